"""Search by meaning: which texts get vectors, when they are made, and what it would cost.

Optional. Vectors are made where a provider is configured or the local model is installed, and only by `history refresh`
and `history semantic`: what else brings the history up to date makes nobody wait for a model.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.history import semantic, store, vectors
from backstory.history.embedders.keeping import Kept
from backstory.history.embedders.provider import Cost, Provider, Settings
from backstory.project.answers import one_view
from backstory.project.answers import search as search_words
from backstory.project.opened import Project
from backstory.records.hostile import one_line
from backstory.records.secrets import redact

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from backstory.history.embedders.contract import Embedder

Progress = Callable[[str, int, int], None]
GROUP = "meaning"
SOURCES = ("entry", "ticket", "run_record", "pull_request", "commit")
# Of the newest commits so many get vectors unless the settings say otherwise: a message costs as much as a ticket.
COMMITS = 0
# The words' ranking that the meanings' is fused with.
_DEPTH = 50
_TEXTS = """
    SELECT 'ticket', stem, concat_ws('\n', title, goal, why, scope, acceptance) FROM tickets
    UNION ALL SELECT 'run_record', path, concat_ws('\n', 'Run of ' || ticket_stem, surprises_text, dead_ends_text,
        escalation_reason) FROM run_records
    UNION ALL SELECT 'entry', id, concat_ws('\n', summary, rationale, detail) FROM entries
        WHERE standing IN ('active', 'confirmed', 'contested') OR (source = 'adr' AND standing = 'proposed')
    UNION ALL SELECT 'pull_request', CASE provider WHEN 'gitlab' THEN '!' ELSE '#' END || number,
        concat_ws('\n', title, body) FROM prs
    UNION ALL (SELECT 'commit', sha, concat_ws('\n', subject, body) FROM commits
        WHERE NOT is_merge ORDER BY committed_at DESC, sha LIMIT $1)
"""
_TITLES = {
    "ticket": "SELECT title FROM tickets WHERE stem = $1",
    "run_record": "SELECT 'Run of ' || ticket_stem FROM run_records WHERE path = $1",
    "pull_request": "SELECT title FROM prs WHERE number = TRY_CAST(substr($1, 2) AS BIGINT)",
    "commit": "SELECT subject FROM commits WHERE sha = $1",
}


class Near(msgspec.Struct, frozen=True):
    """One text found: `similarity` is None where words alone found it, `ways` say how: meaning, words."""

    source: str
    ref: str
    title: str
    score: float
    similarity: float | None
    ways: tuple[str, ...]


class NearAnswer(msgspec.Struct, frozen=True):
    """The texts nearest in meaning and words, best first; a note where meaning could not be asked."""

    query: str
    hits: tuple[Near, ...]
    note: str = ""


@dataclass
class Meaning:
    """What a refresh needs to make vectors: the embedder, and who says whether its price is worth it."""

    embedder: Embedder | None
    note: str
    commits: int
    approve: Callable[[Cost], bool] | None = None


def prepare(project: Project, approve: Callable[[Cost], bool] | None = None) -> Meaning:
    """The embedder that settings and installation give, or the note that says why there is none."""
    given = project.config.settings.embeddings
    choice = semantic.choose(_settings(given), os.environ)
    return Meaning(choice.embedder, choice.note, _number(given.get("commits", ""), COMMITS), approve)


def _settings(given: dict[str, str]) -> Settings | None:
    if not given.get("url"):
        return None
    if not given.get("model"):
        raise BackstoryError(
            "The provider of embeddings has no model.",
            hint="Set `model` beside `url` in the section history.embeddings of .backstory/project.toml.",
            code=Exit.USAGE,
        )
    known: dict[str, Any] = {name: given[name] for name in _TEXT if given.get(name)}
    known |= {name: _number(given[name], 0) for name in _WHOLE if given.get(name)}
    known |= {name: _real(given[name]) for name in _REAL if given.get(name)}
    return Settings(
        url=given["url"],
        model=given["model"],
        allow_cleartext=given.get("allow_cleartext", "").lower() == "true",
        **known,
    )


_TEXT = ("key_variable", "query_prefix", "document_prefix")
_WHOLE = ("dimensions", "batch_texts", "batch_chars")
_REAL = ("dollars_per_million_tokens", "floor", "timeout_seconds")


def _number(text: str, usual: int) -> int:
    try:
        return int(text) if text else usual
    except ValueError as error:
        raise _no_number(text) from error


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise _no_number(text) from error


def _no_number(text: str) -> BackstoryError:
    return BackstoryError(
        f"{text[:60]!r} in the section history.embeddings is no number.",
        hint="Correct it in .backstory/project.toml.",
        code=Exit.USAGE,
    )


def refresh(history: DuckDBPyConnection, folder: str, meaning: Meaning, progress: Progress | None) -> tuple[bool, str]:
    """Bring the vectors of a history that is being built up to date; whether they changed, and what has to be said."""
    if meaning.embedder is None:
        return False, meaning.note
    texts = documents(history, meaning.commits)
    with Kept(folder) as kept:
        first = vectors.model_of(history) is None
        if first and isinstance(meaning.embedder, Provider) and meaning.approve is not None:
            passages = vectors.missing(history, meaning.embedder, texts, known=kept)
            if passages and not meaning.approve(meaning.embedder.estimate(passages)):
                return False, "no vectors were made: the cost was not approved"
        counter = None if progress is None else lambda done, total: progress("texts for meaning", done, total)
        made = vectors.embed_missing(history, meaning.embedder, texts, known=kept, progress=counter)
    return bool(made.embedded or made.reused or made.dropped), ""


def documents(history: DuckDBPyConnection, commits: int) -> list[vectors.Document]:
    """The texts that get vectors; secrets are taken out, for a provider is not to see them."""
    rows = history.execute(_TEXTS, [commits]).fetchall()
    return [(source, ref, redact(text).text) for source, ref, text in sorted(rows) if text and text.strip()]


def ask(project: Project, query: str, meaning: Meaning, *, limit: int = 10) -> NearAnswer:
    """The texts nearest to `query` by meaning, fused with those found by words."""
    words = search_words(project, query, limit=_DEPTH).hits
    reader = store.open_reader(project.config.places.history_dir)
    try:
        found = semantic.search(
            reader, meaning.embedder, query, limit, full_text=[(hit.source, hit.ref) for hit in words]
        )
        titles = {(hit.source, hit.ref): hit.title for hit in words if hit.source != "entry"}
        hits = tuple(
            Near(
                hit.source,
                hit.ref,
                titles.get((hit.source, hit.ref)) or _title(project, reader, hit.source, hit.ref),
                round(hit.score, 6),
                None if hit.similarity is None else round(hit.similarity, 4),
                hit.ways,
            )
            for hit in found.hits
        )
    finally:
        reader.close()
    return NearAnswer(query, hits, meaning.note or found.note)


def _title(project: Project, reader: DuckDBPyConnection, source: str, ref: str) -> str:
    """One line that names a text; of an entry with the tags that say what it counts for."""
    if source == "entry":
        view = one_view(project, ref)
        return view.summary + "".join(f" [{tag}]" for tag in view.tags)
    row = reader.execute(_TITLES[source], [ref]).fetchone()
    return redact(one_line(str(row[0]), 200)).text if row and row[0] else ref
