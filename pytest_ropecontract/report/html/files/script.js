"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const parsed = (id) => JSON.parse(byId(id).textContent);
  const models = [...document.querySelectorAll("details.model:not(.launcher)")];
  const parts = [...document.querySelectorAll("details.model")];

  for (const element of document.querySelectorAll(".needs-script")) {
    element.hidden = false;
  }

  /* Theme: the system's, until another one is chosen. */

  const stored = (value) => {
    try {
      if (value === undefined) {
        return localStorage.getItem("rope-contract-theme");
      }
      localStorage.setItem("rope-contract-theme", value);
    } catch {
      /* Pages that are opened from a file may have no storage. */
    }
    return value;
  };
  const theme = byId("theme");
  const applyTheme = () => {
    document.documentElement.dataset.theme = theme.value;
  };
  theme.value = ["light", "dark"].includes(stored()) ? stored() : "system";
  theme.addEventListener("change", () => {
    stored(theme.value);
    applyTheme();
  });
  applyTheme();

  /* Models and launchers are opened by their links. */

  const openLinked = () => {
    const part = byId(decodeURIComponent(location.hash.slice(1)));
    if (parts.includes(part)) {
      part.hidden = false;
      part.open = true;
      part.querySelector("summary").focus({ preventScroll: true });
      part.scrollIntoView();
    }
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link && link.hash === location.hash) {
      openLinked();
    }
  });
  window.addEventListener("hashchange", openLinked);

  /* Overview: filter and sort. */

  const table = byId("models");
  if (!table) {
    openLinked();
    return;
  }
  const rows = [...table.tBodies[0].rows];
  const filter = byId("filter");
  const state = byId("state");

  const applyFilter = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const matches =
        (!state.value || row.dataset.state === state.value) &&
        words.every((word) => text.includes(word));
      row.hidden = !matches;
      byId(row.dataset.model).hidden = !matches;
      shown += matches;
    }
    byId("shown").textContent = `${shown} of ${rows.length} models`;
  };
  filter.addEventListener("input", applyFilter);
  state.addEventListener("change", applyFilter);

  const valueOf = (row, column) => {
    const { value } = row.cells[column].dataset;
    return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
  };
  const compare = (left, right) => {
    if (typeof left === "number" && typeof right === "number") {
      return left - right;
    }
    return String(left).localeCompare(String(right), "en", { numeric: true });
  };
  const sortBy = (column, descending) => {
    const absent = (row) => valueOf(row, column) === "";
    rows.sort((one, other) => {
      if (absent(one) || absent(other)) {
        return absent(one) - absent(other);
      }
      const order = compare(valueOf(one, column), valueOf(other, column));
      return (descending ? -order : order) || compare(valueOf(one, 0), valueOf(other, 0));
    });
    table.tBodies[0].append(...rows);
    [...table.tHead.rows[0].cells].forEach((cell, index) => {
      if (index === column) {
        cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      } else {
        cell.removeAttribute("aria-sort");
      }
    });
  };
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    button.addEventListener("click", () => {
      sortBy(column, cell.getAttribute("aria-sort") === "ascending");
    });
    cell.replaceChildren(button);
  });

  /* Charts: drawn when a model is opened, one after the other. */

  const once = (make) => {
    let made;
    return () => (made ??= make());
  };
  const curvesOf = once(() => parsed("curves"));
  const specs = once(() => parsed("specs"));
  const library = once(() => {
    const script = document.createElement("script");
    script.textContent = byId("charts").textContent;
    document.head.append(script);
    return window.vegaEmbed;
  });
  const config = {
    font: getComputedStyle(document.body).fontFamily,
    axis: {
      labelColor: "var(--muted)",
      titleColor: "var(--ink)",
      domainColor: "var(--line)",
      tickColor: "var(--line)",
      gridColor: "var(--grid)",
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: 500,
    },
    legend: {
      labelColor: "var(--ink)",
      labelFontSize: 12,
      orient: "top",
      symbolType: "stroke",
      symbolSize: 300,
      labelOffset: 12,
      columnPadding: 24,
      columns: 2,
    },
    text: { fontSize: 12 },
    view: { stroke: null },
  };
  const looks = {
    resolved: { color: "var(--resolved)", dash: [1, 0], width: 2 },
    expected: { color: "var(--expected)", dash: [7, 4], width: 3.5 },
    checkpoint: { color: "var(--checkpoint)", dash: [2, 3], width: 5 },
  };

  /* What a contract demands lies below what is built, and wider, so that both are seen. */
  const inOrder = (data) => {
    const pairs = data.curves.map((curve, index) => ({ curve, label: data.labels[index] }));
    return [...pairs.filter(({ curve }) => curve.of !== "resolved").reverse(), ...pairs.slice(0, 1)];
  };
  const points = {
    wavelengths: (data) => {
      const differing = new Set(data.curves.flatMap((curve) => curve.differing));
      return inOrder(data).flatMap(({ curve, label }) =>
        curve.wavelengths.flatMap((wavelength, pair) =>
          wavelength === null
            ? []
            : [
                {
                  curve: label,
                  pair,
                  wavelength,
                  differs: differing.has(pair) ? "yes" : "no",
                  marked: differing.has(pair) && curve.of === "resolved",
                },
              ],
        ),
      );
    },
    phases: (data) =>
      inOrder(data).flatMap(({ curve, label }) =>
        (curve.phase_errors ?? [])
          .filter(([, radians]) => radians > 0)
          .map(([position, radians]) => ({ curve: label, position, radians })),
      ),
  };

  const said = {
    wavelengths: (data) => {
      const built = data.curves[0];
      const parts = data.curves
        .slice(1)
        .map((curve, index) => `${data.labels[index + 1]}: ${curve.effect}`);
      const range = built.wavelengths.filter((one) => one !== null);
      const short = (value) => String(Number(value.toPrecision(4)));
      const from = range.length
        ? `${built.wavelengths.length} pairs, from ${short(range[0])} to ${short(range.at(-1))} tokens`
        : "no pair is rotated";
      return [`Wavelengths of ${data.name}: ${from}`, ...parts].join(". ");
    },
    phases: (data) => {
      const parts = data.curves
        .slice(1)
        .map((curve, index) => `${data.labels[index + 1]}: ${curve.effect}`);
      return [`Phase errors of ${data.name}`, ...parts].join(". ");
    },
  };

  const channels = [["color", "color"], ["strokeDash", "dash"], ["strokeWidth", "width"]];
  const specOf = (kind, data) => {
    const spec = structuredClone(specs()[kind]);
    const values = points[kind](data);
    const drawn = new Set(values.map((value) => value.curve));
    const names = data.labels.filter((name) => drawn.has(name));
    const look = (name) => looks[name.split(" ")[0]];
    const scale = (property) => ({ domain: names, range: names.map((name) => look(name)[property]) });
    const { length } = data;
    spec.datasets = {
      points: values,
      marked: values.filter((value) => value.marked),
      lengths: length ? [{ length, text: `original length ${length}` }] : [],
    };
    spec.layer = spec.layer.filter(({ data: its }) => spec.datasets[its?.name]?.length !== 0);
    for (const { encoding } of spec.layer) {
      for (const [channel, property] of channels) {
        if (encoding?.[channel]) {
          encoding[channel].scale = scale(property);
        }
      }
    }
    return spec;
  };
  const draw = async (element, data) => {
    const kind = element.dataset.chart;
    const embed = library();
    await embed(element, specOf(kind, data), {
      ast: true,
      actions: false,
      defaultStyle: false,
      renderer: "svg",
      config,
      tooltip: { disableDefaultStyle: true, theme: "report" },
    });
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", said[kind](data));
  };

  const columns = {
    wavelengths: (data) => ({
      head: ["pair", ...data.labels, "differs"],
      body: Array.from(
        { length: Math.max(...data.curves.map((curve) => curve.wavelengths.length)) },
        (_, pair) => [
          pair,
          ...data.curves.map((curve) => curve.wavelengths[pair]),
          data.curves.some((curve) => curve.differing.includes(pair)) ? "yes" : "no",
        ],
      ),
    }),
    phases: (data) => {
      const drawn = data.curves.flatMap((curve, index) =>
        curve.phase_errors ? [{ errors: curve.phase_errors, label: data.labels[index] }] : [],
      );
      return {
        head: ["position", ...drawn.map(({ label }) => label)],
        body: drawn[0].errors.map(([position], index) => [
          position,
          ...drawn.map(({ errors }) => errors[index][1]),
        ]),
      };
    },
  };
  const fill = (element, data) => {
    const kind = element.dataset.numbers;
    const { head, body } = columns[kind](data);
    const scroll = document.createElement("div");
    const made = scroll.appendChild(document.createElement("table"));
    const unit = kind === "phases" ? "radians" : "tokens";
    made.createCaption().textContent = `${kind} of ${data.name}, in ${unit}`;
    const header = made.createTHead().insertRow();
    for (const title of head) {
      const cell = header.appendChild(document.createElement("th"));
      cell.scope = "col";
      cell.textContent = title;
    }
    const rowsOf = made.createTBody();
    for (const values of body) {
      const row = rowsOf.insertRow();
      values.forEach((value, index) => {
        const cell = row.appendChild(document.createElement(index ? "td" : "th"));
        if (!index) {
          cell.scope = "row";
        }
        cell.textContent = value ?? "–";
      });
    }
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", made.caption.textContent);
    element.append(scroll);
  };

  let queue = Promise.resolve();
  const begun = new Set();
  const begin = (model) => {
    const data = curvesOf()[model.id];
    if (!data || begun.has(model)) {
      return;
    }
    begun.add(model);
    for (const element of model.querySelectorAll("[data-chart]")) {
      queue = queue.then(() => draw(element, data)).catch((error) => {
        element.textContent = `The chart cannot be drawn: ${error.message}`;
      });
    }
    for (const element of model.querySelectorAll("[data-numbers]")) {
      element.addEventListener("toggle", () => fill(element, data), { once: true });
    }
  };
  for (const model of models) {
    model.addEventListener("toggle", () => model.open && begin(model));
  }

  openLinked();

  /* All that are shown are opened at once. */

  byId("open-all").addEventListener("click", () => {
    for (const model of models) {
      model.open ||= !model.hidden;
    }
  });
  byId("close-all").addEventListener("click", () => {
    for (const model of models) {
      model.open = false;
    }
  });
})();
