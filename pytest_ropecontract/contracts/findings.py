"""Findings: what a rule says about a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

Status = Literal["fail", "note", "allowed"]
Rule = Literal[
    "implicit-yarn",
    "implicit-field",
    "inert-flag",
    "dropped-flag",
    "rejected-flag",
    "overwritten-flag",
    "repeated-flag",
    "spaced-token",
    "config-refused",
    "expectation",
    "unguarded-omission",
    "checkpoint",
    "unreachable-field",
    "unknown-checkpoint-key",
    "return-arity",
    "launcher-override",
]
RULES: tuple[Rule, ...] = get_args(Rule)


@dataclass(frozen=True)
class Finding:
    """One violation.

    Attributes:
        rule: The rule that found it.
        model: The model's name.
        message: What is wrong, in one sentence.
        field: The RopeConfig field, or None.
        flag: The flag as written, or None.
        expected: The value that was expected, or None.
        actual: The value that is used, or None.
        origin: Where the actual value comes from, or None.
        source: The origin in words: the flag, the function, the class.
        remedy: What to type.
        details: Further lines: what each field was and became.
        omitted: The flags, with their values, whose loss shows it; none where nothing is lost.
        argv: The command line that shows it, or None where it is the definition's own.
        status: ``fail``, ``note`` or ``allowed``.
        reason: The reason of the allowance, where allowed.
        effect: How much the difference matters, in one line, or None where that is not known.
        launcher: The launcher whose command line it is about, or None.
    """

    rule: Rule
    model: str
    message: str
    field: str | None = None
    flag: str | None = None
    expected: Any = None
    actual: Any = None
    origin: str | None = None
    source: str | None = None
    remedy: str | None = None
    details: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    argv: tuple[str, ...] | None = None
    status: Status = "fail"
    reason: str | None = None
    effect: str | None = None
    launcher: str | None = None

    @property
    def headline(self) -> str:
        """Rule, launcher, model and message in one line."""
        launcher = "" if self.launcher is None else f"{self.launcher}: "
        # Of a model that loses a flag, the model is what the sentence begins with.
        colon = "" if self.rule == "unguarded-omission" else ":"
        return f"{self.rule}: {launcher}{self.model}{colon} {self.message}"

    def allowed(self, reason: str) -> Finding:
        """Return this finding as an allowed one."""
        return replace(self, status="allowed", reason=reason)

    def text(self) -> str:
        """Return the whole finding: the headline, then details, a line each."""
        lines = [self.headline]
        details = (
            ("expected", self.expected),
            ("actual", self.actual),
        )
        for name, value in details:
            if value is not None:
                lines.append(f"  {name + ':':<10}{plain(value)}")
        if self.origin is not None:
            source = f" ({self.source})" if self.source else ""
            lines.append(f"  {'origin:':<10}{self.origin}{source}")
        lines.extend(f"  {line}" for line in self.details)
        if self.effect is not None:
            lines.append(f"  {'size:':<10}{self.effect}")
        if self.reason is not None:
            lines.append(f"  {'allowed:':<10}{self.reason}")
        if self.remedy is not None:
            lines.append(f"  {'remedy:':<10}{self.remedy}")
        return "\n".join(lines)


# Up to here a float holds every whole number.
WHOLE_BELOW = 2**53


def becomes_yarn(factor: Any, beta_fast: Any, beta_slow: Any) -> str:
    """Say that a model becomes YaRN, and which one, in the words of every rule that finds it."""
    betas = f"beta_fast {plain(beta_fast)}, beta_slow {plain(beta_slow)}"
    return f"becomes yarn (factor {float(factor)!r}, {betas})"


def plain(value: Any) -> str:
    """Write a value as a flag would: whole numbers without a fraction, lists with blanks."""
    if isinstance(value, float):
        return (
            str(int(value)) if value.is_integer() and abs(value) < WHOLE_BELOW else f"{value:.6g}"
        )
    if isinstance(value, list | tuple):
        return " ".join(plain(one) for one in value)
    return str(value)
