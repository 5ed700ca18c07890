"""The tables of the archive of sessions.

Derived from transcripts alone, and disposable. No text of a transcript is kept but what a list shows of it, shortened
and without secrets: the words are in full text, which gives no text back, and whoever wants the text reads it in the
transcript, by file and offset. Deleting the file costs a reading anew.
"""

from __future__ import annotations

from backstory.index.documents import DOCUMENT_TABLES, FTS_TABLE

VERSION = 3

# As the index has it, without the text. (SQLite 3.37 cannot take rows out of such a table: see `gone`.)
WORDS_TABLE = FTS_TABLE.rstrip().removesuffix(")").rstrip() + ",\n        content = ''\n    )"

TABLES = (
    """CREATE TABLE archive_meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE transcripts (  -- every transcript that was looked at, those of other projects too
        transcript INTEGER PRIMARY KEY,
        client TEXT NOT NULL,
        path TEXT NOT NULL,
        part TEXT NOT NULL,           -- one session of a database, else ''
        parent TEXT NOT NULL,         -- path of the transcript that this one belongs to, else ''
        stamp TEXT NOT NULL,          -- size and time when it was looked at last
        size INTEGER NOT NULL,
        ours INTEGER NOT NULL,        -- 1: something in it belongs to this project
        offset INTEGER NOT NULL,      -- how far it was read
        state BLOB NOT NULL,          -- what the reader needs to go on
        head TEXT NOT NULL,           -- whether what was read still stands there
        going BLOB NOT NULL,          -- what the archive needs to go on
        UNIQUE (path, part)
    )""",
    """CREATE TABLE sessions (
        session INTEGER PRIMARY KEY,  -- transcripts.transcript
        id TEXT NOT NULL,             -- the client's; of a sub-agent id/agent
        client TEXT NOT NULL,
        parent TEXT NOT NULL,         -- id of the session that started it, or that it goes on
        agent TEXT NOT NULL,          -- of a sub-agent: its name
        title TEXT NOT NULL,          -- what was asked first, or the client's own title, one line
        provider TEXT NOT NULL,
        model TEXT NOT NULL,          -- the last one
        version TEXT NOT NULL,        -- of the client
        branch TEXT NOT NULL,         -- the last one
        cwd TEXT NOT NULL,            -- the first folder in this project, from its root
        began INTEGER,                -- microseconds since the epoch, UTC
        ended INTEGER,
        tokens_read INTEGER NOT NULL,
        tokens_written INTEGER NOT NULL,
        tokens_cached INTEGER NOT NULL,
        turns INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        failed INTEGER NOT NULL,      -- calls whose result was an error
        edits INTEGER NOT NULL,
        outcome TEXT NOT NULL,        -- done, interrupted, failed or unknown: how its last turn ended
        lost INTEGER NOT NULL,        -- records that could not be read
        unknown INTEGER NOT NULL      -- records of a type that the reader does not know
    )""",
    "CREATE INDEX sessions_id ON sessions (id)",
    "CREATE INDEX sessions_ended ON sessions (ended)",
    "CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> ''",
    """CREATE TABLE turns (  -- what a person asked, and all that was done until they spoke again
        turn INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,      -- from 1; 0 is what came before anybody asked
        offset INTEGER NOT NULL,      -- where it begins in the transcript
        until INTEGER NOT NULL,       -- where the last of it begins
        at INTEGER,
        asked TEXT NOT NULL,          -- the beginning, one line
        said TEXT NOT NULL,           -- the end of what the agent said last, one line
        calls INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        edits INTEGER NOT NULL
    )""",
    "CREATE UNIQUE INDEX turns_session ON turns (session, number)",
    """CREATE TABLE turn_keys (  -- what was said once counts once, in however many copies of it
        key INTEGER PRIMARY KEY,      -- 8 bytes of a hash of the record's own id
        session INTEGER NOT NULL
    )""",
    """CREATE TABLE calls (
        call INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        turn INTEGER NOT NULL,        -- turns.turn
        offset INTEGER NOT NULL,
        at INTEGER,
        tool TEXT NOT NULL,
        does TEXT NOT NULL,           -- shell, read, search, edit, fetch, agent, plan, memory or other
        command TEXT NOT NULL,        -- of a shell, the beginning
        outcome TEXT NOT NULL,        -- ok, error or unknown
        code INTEGER,                 -- exit code
        error TEXT NOT NULL           -- the most telling line of a failure
    )""",
    "CREATE INDEX calls_session ON calls (session, offset)",
    "CREATE INDEX calls_failed ON calls (session) WHERE outcome = 'error'",
    """CREATE TABLE session_files (
        path TEXT NOT NULL,           -- from the project's root
        session INTEGER NOT NULL,
        reads INTEGER NOT NULL,
        edits INTEGER NOT NULL,
        first_at INTEGER,
        last_at INTEGER,
        offset INTEGER NOT NULL,      -- of the last edit, or of the last time it was read
        PRIMARY KEY (path, session)
    ) WITHOUT ROWID""",
    "CREATE INDEX session_files_session ON session_files (session)",
    """CREATE TABLE session_commits (  -- commits that a session made
        sha TEXT NOT NULL,            -- as git printed it, short
        session INTEGER NOT NULL,
        at INTEGER,
        offset INTEGER NOT NULL,
        PRIMARY KEY (sha, session)
    ) WITHOUT ROWID""",
    "CREATE INDEX session_commits_session ON session_commits (session)",
    """CREATE TABLE captured (  -- how far capture looked at a session
        session INTEGER PRIMARY KEY,
        stamp TEXT NOT NULL           -- transcripts.stamp then
    )""",
    """CREATE TABLE finds (  -- what detectors found in single sessions: what repeats is found by its key
        session INTEGER NOT NULL,
        detector TEXT NOT NULL,
        offset INTEGER NOT NULL,
        key TEXT NOT NULL,
        body TEXT NOT NULL,           -- the candidate without secrets, JSON
        PRIMARY KEY (session, detector, offset)
    ) WITHOUT ROWID""",
    "CREATE INDEX finds_key ON finds (key) WHERE key <> ''",
    """CREATE TABLE gone (  -- sessions that were taken out because their transcript is gone
        id TEXT PRIMARY KEY,
        client TEXT NOT NULL,
        path TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE passages (  -- a document is a piece of a turn that was read at once
        document INTEGER PRIMARY KEY, -- documents.rowid
        turn INTEGER NOT NULL,
        session INTEGER NOT NULL,
        offset INTEGER NOT NULL,      -- where it begins
        until INTEGER NOT NULL        -- where the last of it begins
    )""",
    "CREATE INDEX passages_session ON passages (session)",
    *(WORDS_TABLE if statement == FTS_TABLE else statement for statement in DOCUMENT_TABLES),
)
