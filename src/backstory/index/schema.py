"""The schema of the disposable index, with its history. Printed into `docs/format.md`.

Raise `VERSION` with every change: an index of another version is rebuilt from the log with one line on stderr.
"""

from __future__ import annotations

from backstory.index import failed
from backstory.index.documents import DOCUMENT_TABLES

# 1: first version. 2: look-ups of a brief bounded by indexes of their own. 3: entries computed from sources.
# 4: what failed by its words and lines. 5: commits that a rebase replaced.
# 6: lessons of other projects.
VERSION = 6

TABLES = (
    """CREATE TABLE index_meta (  -- what was read, how far, and figures that a hook reads as they are
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE files (  -- files of the log and the journal, and how far each was read
        file INTEGER PRIMARY KEY,
        place TEXT NOT NULL,          -- log or journal
        name TEXT NOT NULL,           -- without folder and suffix
        size INTEGER NOT NULL,        -- bytes read, up to the last whole line
        lines INTEGER NOT NULL,       -- lines read
        stamp TEXT NOT NULL,          -- inode and mtime: other values mean that more than an append may have happened
        tail TEXT NOT NULL,           -- hash of the last bytes read
        tip TEXT NOT NULL,            -- h of the last sound line
        UNIQUE (place, name)
    )""",
    """CREATE TABLE lines (  -- every sound line of every file
        file INTEGER NOT NULL,
        h BLOB NOT NULL,              -- content hash
        prev BLOB NOT NULL,           -- hash of the writer's previous event in the shard
        event INTEGER NOT NULL,       -- events.event
        shard INTEGER NOT NULL,       -- shards.shard
        number INTEGER NOT NULL,      -- line number in the file
        PRIMARY KEY (file, h)
    ) WITHOUT ROWID""",
    """CREATE TABLE shards (
        shard INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE
    )""",
    "CREATE INDEX lines_event ON lines (event)",
    "CREATE INDEX lines_number ON lines (file, number)",
    """CREATE TABLE problems (  -- what is wrong with lines and files; verify and status show them
        file TEXT NOT NULL,
        line INTEGER NOT NULL,        -- 0: the whole file
        why TEXT NOT NULL,            -- slug, see log/reader.py
        detail TEXT NOT NULL,
        id TEXT NOT NULL DEFAULT ''
    )""",
    """CREATE TABLE events (  -- the union of log and journal by id
        event INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        at TEXT NOT NULL,             -- instant as written
        kind TEXT NOT NULL,
        target TEXT NOT NULL,         -- of an operation: the entry it acts on; else ''
        shard TEXT NOT NULL,
        in_tree INTEGER NOT NULL,     -- 1: in a shard of this work tree (in private mode: in the journal)
        in_journal INTEGER NOT NULL,
        body TEXT NOT NULL            -- the line
    )""",
    "CREATE INDEX events_target ON events (target) WHERE target <> ''",
    "CREATE INDEX events_kind ON events (kind)",
    """CREATE TABLE computed (  -- events that no log holds: read from a source, and gone when the source is
        event INTEGER PRIMARY KEY,    -- events.event
        source TEXT NOT NULL,         -- git or adr
        level TEXT NOT NULL,          -- where its standing begins: active, proposed or retired
        why TEXT NOT NULL,            -- of a retired one
        successors TEXT NOT NULL,     -- ids of what the source says replaced it, JSON list
        patch TEXT NOT NULL,          -- 64-bit hashes of the lines of a failed patch, JSON list
        routine INTEGER NOT NULL      -- 1: a chore whose title many commits have
    )""",
    "CREATE INDEX computed_source ON computed (source)",
    """CREATE TABLE entries (  -- the fold: what each entry counts for, ready for a hook to read
        entry INTEGER PRIMARY KEY,    -- events.event
        id TEXT NOT NULL UNIQUE,
        backwards TEXT NOT NULL,      -- the id reversed: suffixes become prefixes
        kind TEXT NOT NULL,
        source TEXT NOT NULL,         -- log; git or adr for a computed one, which enters a brief only for its files
        standing TEXT NOT NULL,       -- all but expired, which depends on the clock
        at INTEGER NOT NULL,          -- recorded
        last_at INTEGER NOT NULL,     -- recorded or confirmed last
        stale_at INTEGER,             -- instant from which age makes it stale; NULL: never
        moved TEXT NOT NULL,          -- reasons of staleness other than age, JSON list of strings; '' for none
        valid_from INTEGER NOT NULL,
        valid_until INTEGER,          -- instant from which it counts as expired
        in_tree INTEGER NOT NULL,
        branch TEXT NOT NULL,
        by_kind TEXT NOT NULL,
        by_name TEXT NOT NULL,
        session TEXT NOT NULL,
        sessions INTEGER NOT NULL,    -- how many different sessions said it
        commit_id TEXT NOT NULL,
        scope TEXT NOT NULL,
        pinned INTEGER NOT NULL,
        outcome TEXT NOT NULL,        -- of a trial
        summary TEXT NOT NULL,        -- one display line, hostile characters gone
        cost INTEGER NOT NULL,        -- of that line in a brief, tenths of a token, estimated from above
        value_key TEXT NOT NULL,      -- hash of the normalised value: tombstones and duplicates
        case_of TEXT NOT NULL,        -- the issue it belongs to: id of an issue entry, or an outside number
        closed INTEGER NOT NULL,      -- of an issue: 1 when a live fix closed it
        held TEXT NOT NULL,
        superseded_by TEXT NOT NULL,  -- ids, JSON list; '' for none
        contested_with TEXT NOT NULL, -- ids, JSON list; '' for none
        ended_at INTEGER NOT NULL,    -- retired or rejected; 0: no
        ended_by TEXT NOT NULL,
        reason TEXT NOT NULL
    )""",
    "CREATE INDEX entries_backwards ON entries (backwards)",
    "CREATE INDEX entries_value ON entries (value_key)",
    "CREATE INDEX entries_case ON entries (case_of) WHERE case_of <> ''",
    "CREATE INDEX entries_session ON entries (session, last_at) WHERE session <> ''",
    "CREATE INDEX entries_commit ON entries (commit_id, last_at) WHERE commit_id <> ''",
    "CREATE INDEX entries_scope ON entries (scope, last_at) WHERE scope <> ''",
    "CREATE INDEX entries_recent ON entries (last_at)",
    # The timeline: without it 100,000 entries are sorted with their bodies, 160 ms for five lines.
    "CREATE INDEX entries_at ON entries (at, id)",
    # When the clock alone will change something: the next instant is one look-up.
    "CREATE INDEX entries_stale_at ON entries (stale_at) WHERE stale_at IS NOT NULL",
    "CREATE INDEX entries_valid_until ON entries (valid_until) WHERE valid_until IS NOT NULL",
    "CREATE INDEX entries_valid_from ON entries (valid_from) WHERE valid_from > 0",
    # One condition, one place: recall/live.py adds only what depends on the clock.
    """CREATE VIEW live AS
        SELECT * FROM entries WHERE standing IN ('active', 'confirmed', 'contested')""",
    """CREATE INDEX entries_live ON entries (kind, last_at)
        WHERE standing IN ('active', 'confirmed', 'contested')""",
    """CREATE INDEX entries_fresh ON entries (kind, stale_at, last_at)
        WHERE standing IN ('active', 'confirmed', 'contested') AND moved = '' AND closed = 0 AND outcome <> 'worked'
        AND source = 'log'""",
    """CREATE INDEX entries_moved ON entries (last_at)
        WHERE standing IN ('active', 'confirmed', 'contested') AND moved <> ''""",
    "CREATE INDEX entries_standing ON entries (standing, last_at)",
    "CREATE INDEX entries_pinned ON entries (last_at) WHERE pinned = 1",
    """CREATE TABLE entry_files (  -- what entries cite, by the path that the file has now
        path TEXT NOT NULL,
        last_at INTEGER NOT NULL,
        entry INTEGER NOT NULL,
        folder TEXT NOT NULL,
        cited TEXT NOT NULL,          -- the path as it was cited
        place TEXT NOT NULL,          -- '', first-last, or #symbol
        stamp TEXT NOT NULL,          -- size and mtime of the file when its anchor was judged
        PRIMARY KEY (path, last_at, entry, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX entry_files_folder ON entry_files (folder, last_at)",
    "CREATE INDEX entry_files_entry ON entry_files (entry)",
    "CREATE INDEX entry_files_cited ON entry_files (cited) WHERE cited <> path",
    """CREATE TABLE links (  -- supersedes and resolve, both ends: the groups that are folded together
        one INTEGER NOT NULL,         -- entries.entry of the entry that speaks
        other TEXT NOT NULL,          -- id of the entry it speaks about
        PRIMARY KEY (one, other)
    ) WITHOUT ROWID""",
    "CREATE INDEX links_other ON links (other)",
    """CREATE TABLE session_files (  -- files that entries of a session cite
        path TEXT NOT NULL,
        session TEXT NOT NULL,
        last_at INTEGER NOT NULL,
        PRIMARY KEY (path, session)
    ) WITHOUT ROWID""",
    "CREATE INDEX session_files_session ON session_files (session)",
    "CREATE INDEX session_files_path ON session_files (path, last_at)",
    "CREATE INDEX session_files_recent ON session_files (last_at, session)",
    """CREATE TABLE tombstones (  -- values that a person rejected and did not lift
        key TEXT PRIMARY KEY,         -- hash of the normalised value
        op TEXT NOT NULL,
        at INTEGER NOT NULL,
        by_name TEXT NOT NULL,
        reason TEXT NOT NULL,
        target TEXT NOT NULL,
        value TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE conflicts (  -- pairs of live entries that say different things about one subject
        one TEXT NOT NULL,
        other TEXT NOT NULL,
        why TEXT NOT NULL,
        PRIMARY KEY (one, other)
    ) WITHOUT ROWID""",
    "CREATE INDEX conflicts_other ON conflicts (other)",
    """CREATE TABLE uncompared (  -- entries that were not held against the others yet
        entry INTEGER PRIMARY KEY
    )""",
    """CREATE TABLE commits (  -- commits since the oldest cited one
        sha TEXT PRIMARY KEY,
        landed INTEGER NOT NULL,      -- position on the first-parent line at which HEAD's history got it
        time INTEGER NOT NULL         -- when it was written (author time, which a rebase keeps), seconds
    ) WITHOUT ROWID""",
    """CREATE TABLE commit_files (
        path TEXT NOT NULL,
        landed INTEGER NOT NULL,
        sha TEXT NOT NULL,
        PRIMARY KEY (path, landed, sha)
    ) WITHOUT ROWID""",
    "CREATE INDEX commit_files_sha ON commit_files (sha)",
    """CREATE TABLE renames (  -- newest first, as git saw them
        old TEXT NOT NULL,
        new TEXT NOT NULL,
        landed INTEGER NOT NULL,
        PRIMARY KEY (old, landed, new)
    ) WITHOUT ROWID""",
    """CREATE TABLE rewritten (  -- commits that a rebase or an amendment replaced, as git told its hook
        old TEXT PRIMARY KEY,
        new TEXT NOT NULL             -- what it became last
    ) WITHOUT ROWID""",
    """CREATE TABLE branch_files (  -- files of the branch's own commits: part of the working set
        path TEXT PRIMARY KEY
    ) WITHOUT ROWID""",
    """CREATE TABLE lessons (  -- what other projects shared and the dependencies of this one match
        id TEXT PRIMARY KEY,          -- of the entry in the project that it comes from
        project TEXT NOT NULL,        -- the name of that project
        library TEXT NOT NULL,        -- the one that matched, as the lesson names it
        at INTEGER NOT NULL,          -- recorded
        last_at INTEGER NOT NULL,     -- recorded or confirmed last
        stale_at INTEGER,             -- instant from which age makes it stale; NULL: never
        valid_from INTEGER NOT NULL,
        valid_until INTEGER,          -- instant from which it counts as expired
        contested INTEGER NOT NULL,   -- 1: in doubt where it comes from
        line TEXT NOT NULL,           -- as entries.summary
        cost INTEGER NOT NULL,        -- as entries.cost
        value_key TEXT NOT NULL       -- hash of the normalised value: what this project rejected does not arrive
    ) WITHOUT ROWID""",
    *failed.TABLES,
    *DOCUMENT_TABLES,
)
