"""Sessions in the one ranked list of search: what was said in them stands beside what the memory holds.

The scores are of one kind, so the lists can be merged; but agents talk much, so of a mixed list sessions have at most a
third. Only what was read already is searched: a search waits for no transcript.
"""

from __future__ import annotations

import os

import msgspec

from backstory.project.authority import session_id
from backstory.project.opened import Project
from backstory.project.sessions.answers import Passage, found
from backstory.recall.search import Found, SearchAnswer

SOURCE = "session"


def merged(
    project: Project, answer: SearchAnswer, limit: int, *, alone: bool, path: str | None, since: int | None,
    until: int | None,
) -> SearchAnswer:  # fmt: skip
    """The answer with what sessions have on its query; `alone` when nothing else was asked for."""
    most = limit if alone else max(1, limit // 3)
    told = found(project, answer.query, limit=most, path=path, since=since, until=until, without=session_id(os.environ))
    if not told.passages:
        return answer
    # A hit in a transcript by any word is worth less than nothing beside hits that have all words.
    floor = 0.0 if alone or not answer.hits else min(1.0, answer.hits[0].score)
    hits = [*answer.hits, *(_hit(one) for one in told.passages if one.score >= floor)]
    hits.sort(key=lambda hit: (-hit.score, hit.source == SOURCE))
    more = answer.more or len(hits) > limit or (alone and told.more)
    return msgspec.structs.replace(answer, hits=tuple(hits[:limit]), more=more)


def _hit(one: Passage) -> Found:
    ref = f"{one.session} turn {one.turn}"
    title = f"{one.title} [transcript gone]" if one.gone else one.title
    return Found(SOURCE, ref, one.score, one.mode, title, one.snippet, at=one.at)
