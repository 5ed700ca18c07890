"""Queries that people ask the history, as data: printed into the documentation, each run by a test.

Names in quotes (`src/app.py`) are for the reader to replace. No query asks for the present time, so that the same
history gives the same answer: ages count to the newest commit.
"""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A query, what it answers, and a short name for it."""

    title: str
    question: str
    sql: str


EXAMPLES = (
    Example(
        "changed-together",
        "Which files change together most often?",
        """\
SELECT a.path, b.path AS changes_with, count(*) AS commits
FROM commits AS c
JOIN commit_files AS a USING (sha)
JOIN commit_files AS b ON b.sha = a.sha AND b.path > a.path
WHERE c.file_count <= 20 -- sweeping commits say nothing about two files
GROUP BY a.path, b.path
HAVING count(*) > 1
ORDER BY commits DESC, a.path, b.path
LIMIT 20""",
    ),
    Example(
        "who-touched",
        "Who has worked on a file, how often, and when last?",
        """\
SELECT c.author, count(*) AS commits, min(c.authored_at) AS first_at, max(c.authored_at) AS last_at
FROM commits AS c
JOIN commit_files AS f USING (sha)
WHERE 'src/app.py' IN (f.path, f.old_path)
GROUP BY c.author
ORDER BY commits DESC, last_at DESC, c.author""",
    ),
    Example(
        "backed-out",
        "In which files was work backed out?",
        """\
SELECT file, count(*) AS backed_out, max(recorded_at) AS last_at, arg_max(summary, recorded_at) AS latest
FROM (
    SELECT unnest(files) AS file, recorded_at, summary
    FROM entries
    WHERE source = 'git' AND kind = 'trial' AND standing IN ('active', 'confirmed', 'contested')
)
GROUP BY file
ORDER BY backed_out DESC, file
LIMIT 20""",
    ),
    Example(
        "over-estimate",
        "Which tickets took more than half as long again as estimated?",
        """\
SELECT r.ticket_stem, t.title, r.attempt, r.estimate, r.actual_minutes,
    round(r.actual_minutes / r.estimate, 1) AS times
FROM (SELECT *, coalesce(predicted_minutes, wall_time_minutes) AS estimate FROM run_records) AS r
LEFT JOIN tickets AS t ON t.stem = r.ticket_stem
WHERE r.estimate > 0 AND r.actual_minutes > 1.5 * r.estimate
ORDER BY times DESC, r.ticket_stem, r.attempt""",
    ),
    Example(
        "dead-ends",
        "What led nowhere before, by the part of the code it was about?",
        """\
SELECT prefix, count(*) AS dead_ends, string_agg(r.ticket_stem || ': ' || left(r.dead_ends_text, 200), '; '
    ORDER BY r.ended_at DESC, r.path) AS what
FROM run_records AS r
JOIN (SELECT stem, unnest(touches_prefixes) AS prefix FROM tickets) AS t ON t.stem = r.ticket_stem
WHERE trim(r.dead_ends_text) != ''
GROUP BY prefix
ORDER BY dead_ends DESC, prefix""",
    ),
    Example(
        "no-run-record",
        "Which tickets have no run record, by state?",
        """\
SELECT t.state, count(*) AS tickets, list(t.stem ORDER BY t.stem) AS stems
FROM tickets AS t
ANTI JOIN run_records AS r ON r.ticket_stem = t.stem
GROUP BY t.state
ORDER BY tickets DESC, t.state""",
    ),
    Example(
        "commits-by-area",
        "How many commits a month does each part of the code see?",
        """\
SELECT strftime(c.committed_at, '%Y-%m') AS month,
    CASE WHEN contains(f.path, '/') THEN split_part(f.path, '/', 1) ELSE '.' END AS area,
    count(DISTINCT c.sha) AS commits
FROM commits AS c
JOIN commit_files AS f USING (sha)
GROUP BY month, area
ORDER BY month DESC, commits DESC, area""",
    ),
    Example(
        "shaken-decisions",
        "Which decisions are about files that have changed much since?",
        """\
SELECT d.id, d.summary, d.file, count(*) AS commits_since, max(c.committed_at) AS last_at
FROM (
    SELECT id, summary, confirmed_at, unnest(files) AS file
    FROM entries
    WHERE kind = 'decision' AND standing IN ('active', 'confirmed', 'contested')
) AS d
JOIN commit_files AS f ON f.path = d.file
JOIN commits AS c ON c.sha = f.sha AND c.committed_at > d.confirmed_at
GROUP BY ALL
HAVING count(*) >= 3
ORDER BY commits_since DESC, d.id, d.file""",
    ),
    Example(
        "open-issues",
        "How old are the open issues, counted to the newest commit?",
        """\
SELECT i.id, i.summary, i.files, date_diff('day', i.recorded_at, newest.at) AS days_open
FROM entries AS i, (SELECT max(committed_at) AS at FROM commits) AS newest
WHERE i.kind = 'issue' AND i.standing IN ('active', 'confirmed', 'contested')
    AND NOT EXISTS (
        FROM entries AS f
        WHERE f.kind = 'fix' AND f.issue = i.id AND f.standing IN ('active', 'confirmed', 'contested')
    )
ORDER BY days_open DESC, i.id""",
    ),
    Example(
        "risky-pull-requests",
        "Which open pull requests touch files on which a trial failed?",
        """\
SELECT p.number, p.title, list_sort(list_intersect(p.paths, e.files)) AS files, e.id AS trial, e.summary
FROM prs AS p
JOIN entries AS e ON list_has_any(p.paths, e.files)
WHERE p.state = 'open' AND e.kind = 'trial' AND e.outcome = 'failed'
    AND e.standing IN ('active', 'confirmed', 'contested')
ORDER BY p.number, e.id""",
    ),
)
