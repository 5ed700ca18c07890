"""Fifty questions to a project's memory, each with the one text that answers it in other words.

No question shares a content word with its answer, stems compared (`tests/history/test_semantic_pairs.py` holds this),
so that a search for words finds nothing. Written before any model was measured, and not changed after it.
"""

# ruff: noqa: RUF001

from typing import NamedTuple


class Pair(NamedTuple):
    """A question, where its answer stands, and the answer."""

    query: str
    source: str
    answer: str


PAIRS = (
    Pair(
        "why don't we hold login state on the server",
        "decision",
        "We chose signed JWTs over Redis sessions so that any node may handle any request.",
    ),
    Pair(
        "speeding up the build by compiling in parallel",
        "trial",
        "make -j8 turned CI slower: the linker exhausted RAM and the box began to swap.",
    ),
    Pair(
        "timestamps off by one hour twice a year",
        "run record",
        "Daylight saving: the scheduler stored local clock values, so jobs fired early after the October switch.",
    ),
    Pair(
        "app eats more and more memory until it gets killed",
        "ticket",
        "Leak in the image thumbnailer: buffers are never freed, and the OOM reaper ends the pod overnight.",
    ),
    Pair(
        "protect against malicious input in database queries",
        "commit",
        "Use bound parameters everywhere instead of gluing strings into SQL; closes an injection hole.",
    ),
    Pair(
        "how to represent money",
        "decision",
        "Amounts are integer cents; floating point loses pennies when summing invoices.",
    ),
    Pair(
        "making the web workers non-blocking brought nothing",
        "trial",
        "Rewriting the handlers with asyncio gave no gain: nearly all time is spent inside Postgres.",
    ),
    Pair(
        "test passes alone but breaks in the full suite",
        "run record",
        "A leftover monkeypatch of the billing module leaks into later cases, so order matters.",
    ),
    Pair(
        "users cannot sign in after changing their password",
        "ticket",
        "Credentials reset leaves the old hash in the LDAP cache; authentication keeps failing for ten minutes.",
    ),
    Pair(
        "stop hammering the remote API when it is down",
        "commit",
        "Add a circuit breaker and exponential back-off around the payment gateway client.",
    ),
    Pair(
        "where should translations live",
        "decision",
        "Gettext catalogues sit beside each component, and locale bundles are generated at release.",
    ),
    Pair(
        "shrink the docker image",
        "trial",
        "Alpine as container base was dropped: musl broke the prebuilt wheels, and we only saved 9 MB.",
    ),
    Pair(
        "deleting a customer takes forever",
        "run record",
        "Removing one account scans the whole orders relation, because the foreign key has no index.",
    ),
    Pair(
        "make the page usable with a screen reader",
        "ticket",
        "Accessibility: buttons lack aria labels and focus is lost when the dialog opens.",
    ),
    Pair(
        "weird characters in exported spreadsheets",
        "commit",
        "Write a UTF-8 BOM so that Excel shows umlauts in the CSV download properly.",
    ),
    Pair(
        "how do we roll out risky changes gradually",
        "decision",
        "Feature flags gate every new path; canary at 5 % of tenants for a day before going wide.",
    ),
    Pair(
        "detect near duplicate photos",
        "trial",
        "Perceptual hashing with 64 bits gave too many false matches on screenshots of tables; abandoned.",
    ),
    Pair(
        "disk fills up over the weekend",
        "run record",
        "Logrotate was switched off by the upgrade, and the audit trail grew to 80 GB by Monday.",
    ),
    Pair(
        "search results show things people are not allowed to see",
        "ticket",
        "The index ignores row permissions, exposing private documents to other tenants.",
    ),
    Pair(
        "prevent two workers from picking the same job",
        "commit",
        "Claim tasks with SELECT FOR UPDATE SKIP LOCKED to avoid duplicate processing.",
    ),
    Pair(
        "why is there no ORM",
        "decision",
        "Plain hand-written SQL through psycopg: SQLAlchemy hid the N+1 problem and made migrations opaque.",
    ),
    Pair(
        "caching rendered templates",
        "trial",
        "Keeping HTML fragments in Redis served stale prices, and invalidation cost more than it saved.",
    ),
    Pair(
        "mobile clients reject our certificate",
        "run record",
        "Old Android phones lack the ISRG root, so the Let's Encrypt chain fails TLS verification there.",
    ),
    Pair(
        "the program freezes when the network goes away",
        "ticket",
        "Socket reads have no timeout; losing Wi-Fi hangs the UI thread for good.",
    ),
    Pair(
        "faster startup",
        "commit",
        "Import pandas lazily inside the functions which need it; launching the CLI drops from 900 to 120 ms.",
    ),
    Pair(
        "how long do we keep personal data",
        "decision",
        "Retention: GDPR records are erased after 18 months, backups after 30 days.",
    ),
    Pair(
        "replace the message broker",
        "trial",
        "Kafka to NATS migration was rolled back: no consumer group rebalancing, and events arrived twice.",
    ),
    Pair(
        "numbers differ between Mac and Linux",
        "run record",
        "Floating point sums vary with the BLAS vendor: Accelerate on Apple, OpenBLAS on Debian.",
    ),
    Pair(
        "let customers pay with different currencies",
        "ticket",
        "Checkout: support EUR, GBP and JPY, with exchange rates frozen at order time.",
    ),
    Pair(
        "fix crash on empty list",
        "commit",
        "Guard against zero elements before taking the first item; raised IndexError for new shops.",
    ),
    Pair(
        "do we still support old browsers",
        "decision",
        "Internet Explorer 11 and Safari below 14 are no longer targeted; polyfills removed.",
    ),
    Pair(
        "using GPU for inference",
        "trial",
        "CUDA made predictions three times quicker, but a T4 node costs more per month than all other machines.",
    ),
    Pair(
        "emails end up as spam",
        "run record",
        "Newsletters lacked a DKIM signature after the domain moved, and Gmail filed them as junk.",
    ),
    Pair(
        "undo accidental removal",
        "ticket",
        "Trash bin: deleted projects should be restorable within 14 days.",
    ),
    Pair(
        "reduce noise in the logs",
        "commit",
        "Demote health-check lines to DEBUG; they were 90 % of what Kibana stores.",
    ),
    Pair(
        "single repository or many",
        "decision",
        "One monorepo for backend, web and mobile, since changes usually cross all three.",
    ),
    Pair(
        "automatic retries made things worse",
        "trial",
        "Repeating each timed-out call tripled load on the inventory service during the outage and kept it from"
        " recovering.",
    ),
    Pair(
        "file names with accents are not found",
        "run record",
        "macOS hands back decomposed Unicode (NFD), so looking up 'café.txt' misses.",
    ),
    Pair(
        "slow first request after deployment",
        "ticket",
        "Cold JIT and unfilled connection pool: the initial hit post-release takes 8 s; warm up before joining the"
        " balancer.",
    ),
    Pair(
        "secrets leaked into version control",
        "commit",
        "Purge the AWS key from git history and rotate credentials; scan with trufflehog on each push.",
    ),
    Pair(
        "how are schema changes applied without stopping the service",
        "decision",
        "Expand and contract: add the column nullable, backfill in batches, drop the former one a release later; zero"
        " downtime.",
    ),
    Pair(
        "guessing the language of a text",
        "trial",
        "langdetect was unreliable below 20 letters and random between runs; cld3 does well.",
    ),
    Pair(
        "why nightly reports are missing on the 31st",
        "run record",
        "Adding a month with naive arithmetic skipped days that do not exist in February, so the cron produced"
        " nothing.",
    ),
    Pair(
        "limit how many calls a client may make",
        "ticket",
        "Throttling: 100 requests per minute and token, answer 429 beyond.",
    ),
    Pair(
        "keep the interface responsive while big files are read",
        "commit",
        "Move parsing of large uploads into a background thread; the window no longer stalls.",
    ),
    Pair(
        "why do identifiers sort by age",
        "decision",
        "ULIDs instead of UUIDv4: chronological order keeps B-tree inserts local.",
    ),
    Pair(
        "vector database for looking up similar tickets",
        "trial",
        "HNSW over embeddings needed 40 GB, and nearest neighbours were no better than BM25; shelved.",
    ),
    Pair(
        "Windows builds fail because paths are too long",
        "run record",
        "Nesting in node_modules goes beyond 260 characters on NTFS; pnpm's flat layout avoids it.",
    ),
    Pair(
        "people get charged a second time by mistake",
        "ticket",
        "Idempotency keys missing: a double click on Buy bills the card twice.",
    ),
    Pair(
        "clean up when somebody presses control-C",
        "commit",
        "Handle SIGINT: remove temporary directories and end child processes on interrupt.",
    ),
)

# For models that claim other languages: six in one language, six from one language into another.
OTHER_LANGUAGES = (
    Pair(
        "ログインできない",
        "ticket",
        "認証サーバーの証明書が期限切れのため、利用者全員が失敗する。",
    ),
    Pair(
        "Warum ist die Anmeldung so langsam?",
        "run record",
        "bcrypt mit 15 Runden braucht zwei Sekunden je Kennwort; auf 12 gesenkt.",
    ),
    Pair(
        "pourquoi avoir abandonné ce cache",
        "decision",
        "Memcached retiré : l'invalidation coûtait plus cher que les requêtes SQL évitées.",
    ),
    Pair(
        "la aplicación se queda sin memoria",
        "ticket",
        "Fuga de RAM en el generador de miniaturas: los búferes nunca son liberados.",
    ),
    Pair(
        "como desfazer uma exclusão",
        "decision",
        "Lixeira: projetos apagados podem ser restaurados durante 14 dias.",
    ),
    Pair(
        "页面打开太慢",
        "commit",
        "首屏加载耗时八秒：拆分脚本并延迟载入图片，降到一秒。",
    ),
    Pair(
        "データベースの移行を止めずに行う方法",
        "decision",
        "Online schema change: add a nullable column, backfill in batches, then drop the old one; no downtime.",
    ),
    Pair(
        "Doppelte Abbuchung beim Kunden vermeiden",
        "commit",
        "Add idempotency keys to checkout so that a repeated click does not bill the card twice.",
    ),
    Pair(
        "les courriels arrivent dans les indésirables",
        "run record",
        "Outgoing newsletters lacked a DKIM signature and were filed as junk mail by Gmail.",
    ),
    Pair(
        "los usuarios ven documentos ajenos",
        "ticket",
        "Search ignores row permissions and leaks private files of other tenants.",
    ),
    Pair(
        "почему не используем микросервисы",
        "decision",
        "We stay with a modular monolith: splitting it into small services tripled operational work.",
    ),
    Pair(
        "测试有时成功有时失败",
        "run record",
        "Flaky: the order of cases is random and one of them leaves global state behind.",
    ),
)

# What no project's memory answers: a model must not make hits of these.
OFF_TOPIC = (
    "recipe for sourdough bread with rye",
    "who won the world cup in 1998",
    "best hiking trails in Norway",
    "how to treat a sprained ankle",
    "lyrics of a lullaby about the moon",
    "train the dog not to pull on the leash",
    "when to plant tomatoes outside",
    "history of the Ottoman empire",
    "cheap flights to Lisbon in May",
    "how do whales sleep",
    "difference between Baroque and Rococo painting",
    "what to cook with leftover rice",
    "rules of offside in football",
    "symptoms of iron deficiency",
    "knitting pattern for a child's sweater",
    "how far is the sun from the earth",
    "poems by Emily Dickinson about death",
    "repair a leaking kitchen tap",
    "why do cats purr",
    "names for a newborn girl",
    "how to tune a guitar by ear",
    "wine that goes with grilled salmon",
    "capital of Mongolia",
    "exercises for lower back pain",
    "who painted the ceiling of the Sistine Chapel",
    "how to remove coffee stains from a carpet",
    "average rainfall in the Amazon",
    "make a paper aeroplane that flies far",
    "plot of Romeo and Juliet",
    "how bees make honey",
)
