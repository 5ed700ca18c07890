"""What a check looks a change up by: the words and the lines of every trial that failed.

Kept beside the entries and written with them, so that a hook finds the trials that share a line with a patch, or a
rare word with a subject, by look-ups that cost the same at any length of the history.
"""

from __future__ import annotations

import json
import sqlite3

from backstory.records.kinds.trial import Trial
from backstory.records.likeness import subject_words

TABLES = (
    """CREATE TABLE failed (  -- trials that failed or worked in part only
        entry INTEGER PRIMARY KEY,    -- entries.entry
        words TEXT NOT NULL,          -- of its subject, as records/likeness.py tells them, separated by spaces
        lines INTEGER NOT NULL,       -- how many lines of its patch are known
        routine INTEGER NOT NULL      -- 1: a chore whose title many commits have
    )""",
    """CREATE TABLE failed_words (  -- how many failed trials have a word
        word TEXT NOT NULL,
        entry INTEGER NOT NULL,
        PRIMARY KEY (word, entry)
    ) WITHOUT ROWID""",
    "CREATE INDEX failed_words_entry ON failed_words (entry)",
    """CREATE TABLE failed_lines (  -- 64-bit hashes of the lines of a failed patch
        line INTEGER NOT NULL,
        entry INTEGER NOT NULL,
        PRIMARY KEY (line, entry)
    ) WITHOUT ROWID""",
    "CREATE INDEX failed_lines_entry ON failed_lines (entry)",
)
# What the summary of a computed one begins with.
_LEADS = ("Backed out in part: ", "Backed out: ")


def write(db: sqlite3.Connection, number: int, trial: Trial) -> None:
    """Keep what a failed trial is known by; one that worked is nobody's warning."""
    if trial.outcome == "worked":
        return
    words = subject_words(_subject(trial.summary))
    row = db.execute("SELECT patch, routine FROM computed WHERE event = ?", (number,)).fetchone()
    lines = json.loads(row[0]) if row else []
    db.execute("INSERT INTO failed VALUES (?, ?, ?, ?)", (number, " ".join(words), len(lines), row[1] if row else 0))
    db.executemany("INSERT INTO failed_words VALUES (?, ?)", ((word, number) for word in words))
    db.executemany("INSERT OR IGNORE INTO failed_lines VALUES (?, ?)", ((line, number) for line in lines))


def forget(db: sqlite3.Connection, number: int) -> None:
    """Forget one. Costs a look-up where there is none."""
    if db.execute("DELETE FROM failed WHERE entry = ?", (number,)).rowcount:
        db.execute("DELETE FROM failed_words WHERE entry = ?", (number,))
        db.execute("DELETE FROM failed_lines WHERE entry = ?", (number,))


def _subject(summary: str) -> str:
    for lead in _LEADS:
        if summary.startswith(lead):
            return summary[len(lead) :]
    return summary
