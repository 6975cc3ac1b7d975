"""The part of a config.json that is kept, and what of it is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_configs import PUBLISHED, Config

from pytest_ropecontract.contracts.checkpoints.excerpt import NOTE, dump, excerpt
from pytest_ropecontract.contracts.checkpoints.reader import read

COMMIT = "0" * 40
# Of what a whole file has beside the RoPE: nothing of it is kept.
OTHERS: Config = {
    "attention_bias": False,
    "auto_map": {"AutoConfig": "configuration.Config"},
    "properties": {"rope_theta": 1},
    "quantization_config": {"fmt": "e4m3", "rope_theta": 1},
    "vocab_size": 163840,
    "vision_config": {"rope_theta": 7, "hidden_size": 1},
}


class Watched(dict[str, Any]):
    """An object of a document that remembers which keys are asked for."""

    asked: set[str]

    def __init__(self, content: Config, asked: set[str]) -> None:
        super().__init__(
            {
                key: Watched(value, asked) if key in NESTED_HERE else value
                for key, value in content.items()
            }
        )
        self.asked = asked

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return super().__contains__(key)


NESTED_HERE = ("text_config", "llm_config", "language_config", "thinker_config")


def full(config: Config) -> Config:
    """Return a document with all that a published one has beside its RoPE."""
    whole = {**OTHERS, **config}
    for key in NESTED_HERE:
        if key in whole:
            whole[key] = {**OTHERS, **whole[key]}
    return whole


@pytest.mark.parametrize("name", PUBLISHED)
def test_excerpt_is_read_as_the_whole(name: str) -> None:
    whole = full(PUBLISHED[name].config)

    assert read(excerpt(whole, "org/name", COMMIT)) == read(whole) == read(PUBLISHED[name].config)


@pytest.mark.parametrize("name", PUBLISHED)
def test_excerpt_is_all_that_was_there_of_what_is_read(name: str) -> None:
    config = PUBLISHED[name].config
    kept = excerpt(full(config), "org/name", COMMIT)
    del kept[NOTE]

    assert kept == {key: value for key, value in config.items() if key != "qk_nope_head_dim"} | {
        key: {one: value for one, value in config[key].items() if one != "qk_nope_head_dim"}
        for key in NESTED_HERE
        if key in config
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_key_that_the_reader_asks_for_is_kept(name: str) -> None:
    asked: set[str] = set()

    read(Watched(PUBLISHED[name].config, asked))

    asked.discard(NOTE)
    assert "model_type" in asked
    assert asked - set(NESTED_HERE) <= set(excerpt(dict.fromkeys(asked, 1), None, None))


keys = st.sampled_from(
    [
        *("rope_theta", "rope_scaling", "rope_parameters", "model_type", "text_config", "head_dim"),
        *("swa_rope_theta", "rope_type", "use_mrope", "rotary_emb_base", "vocab_size", "layers"),
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner),
    max_leaves=20,
)
documents = st.dictionaries(keys, values)


@given(documents)
def test_no_document_is_read_otherwise_as_an_excerpt(config: Config) -> None:
    assert read(excerpt(config, "org/name", COMMIT)) == read(config)


@given(documents)
def test_what_is_written_is_what_was_kept(config: Config) -> None:
    kept = excerpt(config, "org/name", COMMIT)

    assert json.loads(dump(kept)) == kept


@given(documents)
def test_excerpt_of_an_excerpt_is_the_same(config: Config) -> None:
    kept = excerpt(config, "org/name", COMMIT)

    assert excerpt(kept, None, None) == kept


NOTED = {"repo_id": "org/name", "revision": COMMIT, "note": "for tests"}


def test_excerpt_of_an_excerpt_says_what_that_one_was_taken_from() -> None:
    config = {NOTE: NOTED, "rope_theta": 5}

    assert excerpt(config, None, None) == config


def test_excerpt_of_a_known_repository_is_of_that_one() -> None:
    note = excerpt({NOTE: NOTED, "rope_theta": 5}, "org/other", None)[NOTE]

    assert note == {"repo_id": "org/other", "part": "the RoPE part of the published config.json"}


def test_excerpt_of_an_unknown_repository_says_only_what_it_is() -> None:
    note = excerpt({NOTE: "text", "rope_theta": 5}, None, None)[NOTE]

    assert note == {"part": "the RoPE part of the published config.json"}


def test_file_is_written_for_readers() -> None:
    content = {"a": {"b": [1, 2], "c": {}}, "\u00e4": "\u00e4"}

    assert dump(content) == (
        '{\n  "a": {\n    "b": [1, 2],\n    "c": {}\n  },\n  "\u00e4": "\u00e4"\n}\n'
    )


@pytest.mark.parametrize(
    ("note", "problem"),
    [
        ("text", "ropecontract is 'text', not an object"),
        ({"revision": 5}, "ropecontract.revision is 5, not a text"),
        (
            {"repo": "org/name"},
            "ropecontract.repo is no key of this object; did you mean repo_id?",
        ),
    ],
)
def test_note_that_is_none(note: Any, problem: str) -> None:
    (found,) = read({"ropecontract": note, "rope_theta": 5}).problems

    assert found.message == problem
