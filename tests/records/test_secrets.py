"""Secrets leave the text, the sentence stays, and prose about secrets passes.

No secret stands in this file: each shape is built when the test runs, from a seed, out of pieces.
"""

import os
import random
import string
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.records import secrets
from backstory.records.secrets import Redaction, redact

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"

# Read when the module is imported, since every test runs without the variables of this program.
MESSAGES = os.environ.get("BACKSTORY_COMMIT_MESSAGES", "")


class Planted(NamedTuple):
    text: str
    secret: str
    kind: str


class Maker:
    """Random pieces of secrets, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def take(self, size: int, alphabet: str = ALNUM) -> str:
        """Random characters, at least one digit and one letter among them."""
        picked = [self.random.choice(alphabet) for _ in range(size - 2)]
        letters = [char for char in alphabet if char.isalpha()]
        return "".join([*picked, self.random.choice(letters), self.random.choice("23456789")])

    def word(self) -> str:
        """A value without digits that is no word of a language."""
        return "".join(self.random.choice("bdfgklmnprstvz") + self.random.choice("aeiou") for _ in range(5))

    def lines(self, count: int) -> str:
        return "\n".join(self.take(64, ALNUM + "+/") for _ in range(count))


# Made of pieces, so that a scanner of this repository has nothing to report.
PREFIXED: dict[str, tuple[str, str, Callable[[Maker], str]]] = {
    "AWS access key id": ("aws", "AK" + "IA", lambda m: m.take(16, string.ascii_uppercase + "234567")),
    "AWS temporary key id": ("aws", "AS" + "IA", lambda m: m.take(16, string.ascii_uppercase + "234567")),
    "Google API key": ("google", "AI" + "za", lambda m: m.take(35, WORD)),
    "Google client secret": ("google", "GOC" + "SPX-", lambda m: m.take(28, WORD)),
    "GitHub personal": ("github", "gh" + "p_", lambda m: m.take(36)),
    "GitHub OAuth": ("github", "gh" + "o_", lambda m: m.take(36)),
    "GitHub user": ("github", "gh" + "u_", lambda m: m.take(36)),
    "GitHub server": ("github", "gh" + "s_", lambda m: m.take(36)),
    "GitHub refresh": ("github", "gh" + "r_", lambda m: m.take(76)),
    "GitHub fine-grained": ("github", "github" + "_pat_", lambda m: f"{m.take(22)}_{m.take(59)}"),
    "GitLab personal": ("gitlab", "gl" + "pat-", lambda m: m.take(20, WORD)),
    "GitLab runner": ("gitlab", "gl" + "rt-", lambda m: m.take(20, WORD)),
    "Bitbucket app password": ("bitbucket", "AT" + "BB", lambda m: m.take(32)),
    "Slack bot": (
        "slack",
        "xo" + "xb-",
        lambda m: f"{m.take(12, HEX[:10] + 'a')[:11]}-{m.take(12)}-{m.take(24)}",
    ),
    "Slack user": ("slack", "xo" + "xp-", lambda m: f"1{m.take(11)}-{m.take(12)}-{m.take(32, HEX)}"),
    "Slack app": ("slack", "xa" + "pp-", lambda m: f"1-A{m.take(10)}-{m.take(13)}-{m.take(64, HEX)}"),
    "npm": ("npm", "np" + "m_", lambda m: m.take(36)),
    "PyPI": ("pypi", "py" + "pi-AgEI", lambda m: m.take(120, WORD)),
    "RubyGems": ("rubygems", "ruby" + "gems_", lambda m: m.take(48, HEX)),
    "crates.io": ("cargo", "ci" + "o", lambda m: m.take(32)),
    "Docker": ("docker", "dckr" + "_pat_", lambda m: m.take(27, WORD)),
    "Anthropic": ("anthropic", "sk-" + "ant-api03-", lambda m: m.take(95, WORD)),
    "OpenAI project": ("openai", "sk-" + "proj-", lambda m: m.take(48, WORD)),
    "OpenAI": ("openai", "s" + "k-", lambda m: m.take(48)),
    "Hugging Face": ("huggingface", "h" + "f_", lambda m: m.take(34)),
    "Groq": ("groq", "gs" + "k_", lambda m: m.take(52)),
    "xAI": ("xai", "xa" + "i-", lambda m: m.take(80)),
    "Replicate": ("replicate", "r" + "8_", lambda m: m.take(37)),
    "Perplexity": ("perplexity", "pp" + "lx-", lambda m: m.take(48)),
    "Stripe secret": ("stripe", "sk" + "_live_", lambda m: m.take(24)),
    "Stripe restricted": ("stripe", "rk" + "_live_", lambda m: m.take(24)),
    "Stripe webhook": ("stripe", "wh" + "sec_", lambda m: m.take(32)),
    "SendGrid": ("sendgrid", "S" + "G.", lambda m: f"{m.take(22, WORD)}.{m.take(43, WORD)}"),
    "Mailgun": ("mailgun", "ke" + "y-", lambda m: m.take(32, HEX)),
    "Twilio key": ("twilio", "S" + "K", lambda m: m.take(32, HEX)),
    "DigitalOcean": ("digitalocean", "do" + "p_v1_", lambda m: m.take(64, HEX)),
    "Vault": ("vault", "hv" + "s.", lambda m: m.take(24)),
}

# The secret is what stands for {}: kind, text around it, how it is made.
IN_CONTEXT: dict[str, tuple[str, str, Callable[[Maker], str]]] = {
    "Postgres URL": ("url-password", "postgres://app:{}@db.internal:5432/app", lambda m: m.take(12)),
    "URL without digits": ("url-password", "mysql://root:{}@localhost/shop", Maker.word),
    "Redis URL without user": ("url-password", "redis://:{}@cache:6379/0", lambda m: m.take(16)),
    "percent-encoded URL": ("url-password", "amqp://svc:{}@mq/vhost", lambda m: f"{m.take(6)}%40{m.take(6)}%2F"),
    "URL with @ in the password": (
        "url-password",
        "https://ci:{}@git.example.com/x.git",
        lambda m: f"{m.take(5)}@{m.take(5)}",
    ),
    "URL with a raw slash": ("url-password", "postgres://app:{}@db/app", lambda m: f"q{m.take(5)}/{m.take(5)}"),
    "token as URL user": ("url-password", "https://{}@git.example.com/x.git", lambda m: m.take(32)),
    "second URL of a list": ("url-password", "http://a/x,redis://:{}@c/0", lambda m: m.take(16)),
    "password assignment": ("assignment", "password={}", lambda m: m.take(10)),
    "changeme": ("assignment", "password={}", lambda m: "change" + "me"),
    "weak password": ("assignment", "passwd: {}", lambda m: "hunter" + "2"),
    "quoted password": ("assignment", "password = '{}'", Maker.word),
    "JSON password": ("assignment", '{{"user": "app", "password": "{}", "port": 1}}', Maker.word),
    "escaped JSON": ("assignment", '{{\\"api_key\\": \\"{}\\"}}', lambda m: m.take(24)),
    "YAML token": ("assignment", "token: {}", lambda m: m.take(24, HEX)),
    "api key in Python": ("assignment", 'api_key = "{}"', lambda m: m.take(24)),
    "camel case": ("assignment", 'clientSecret: "{}"', lambda m: m.take(24)),
    "client secret in a form": ("assignment", "client_secret={}&grant_type=x", lambda m: m.take(24)),
    "ADO connection string": ("assignment", "Server=db;User Id=sa;Password={};Encrypt=yes", lambda m: m.take(12)),
    "environment line": ("assignment", "DB_PASSWORD={}", Maker.word),
    "environment key": ("assignment", "STRIPE_KEY={}", Maker.word),
    "environment token": ("assignment", "SLACK_BOT_TOKEN={}", Maker.word),
    "exported secret": ("assignment", "export SESSION_SECRET='{}'", Maker.word),
    "Rails secret": ("assignment", "SECRET_KEY_BASE={}", lambda m: m.take(128, HEX)),
    "typed Python": ("assignment", 'password: str = "{}"', Maker.word),
    "default of getenv": ("assignment", 'os.getenv("API_KEY", "{}")', lambda m: m.take(20)),
    "environ item": ("assignment", 'os.environ["DB_PASSWORD"] = "{}"', Maker.word),
    "flag": ("assignment", "--password {}", lambda m: m.take(10)),
    "flag with equals": ("assignment", "--api-key={}", lambda m: m.take(24)),
    "XML element": ("assignment", "<password>{}</password>", lambda m: m.take(10)),
    "npmrc": ("assignment", "//registry.example.com/:_authToken={}", lambda m: m.take(36, HEX)),
    "AWS secret key": ("aws", "aws_secret_access_key = {}", lambda m: m.take(40, ALNUM + "/+")),
    "AWS secret in prose": ("aws", "the aws one is {}", lambda m: m.take(40, ALNUM + "/+")),
    "Azure storage": (
        "azure",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=y",
        lambda m: m.take(86, ALNUM + "+/") + "==",
    ),
    "Azure SAS": ("azure", "https://x.blob.core.windows.net/c?sv=2024&sig={}&se=1", lambda m: m.take(43) + "%3D"),
    "Slack webhook": (
        "slack-webhook",
        "https://hooks.slack.com/services/{}",
        lambda m: f"T{m.take(9)}/B{m.take(9)}/{m.take(24)}",
    ),
    "Discord webhook": (
        "discord-webhook",
        "https://discord.com/api/webhooks/{}",
        lambda m: f"1{m.take(17, '0123456789a').replace('a', '1')}/{m.take(68, WORD)}",
    ),
    "Discord bot": (
        "discord",
        "{}",
        lambda m: (
            f"{b64encode(str(m.random.randrange(10**17, 10**18)).encode()).decode()}.G{m.take(5)}.{m.take(38, WORD)}"
        ),
    ),
    "Telegram bot": ("telegram", "712345678:{}", lambda m: "AA" + m.take(33, WORD)),
    "Twilio auth token": ("twilio", "twilio says {}", lambda m: m.take(32, HEX)),
    "Twilio pair": ("twilio", "AC" + "0123456789abcdef" * 2 + " / {}", lambda m: m.take(32, HEX)),
    "JWT": ("jwt", "{}", lambda m: "ey" + f"J{m.take(20)}.ey" + f"J{m.take(60)}.{m.take(43, WORD)}"),
    "basic header": (
        "authorization",
        "Authorization: Basic {}",
        lambda m: b64encode(f"app:{m.take(9)}".encode()).decode(),
    ),
    "bearer header": ("authorization", "Authorization: Bearer {}", lambda m: m.take(40)),
    "bearer alone": ("authorization", "Bearer {}", lambda m: m.take(40)),
    "curl user": ("curl-user", "curl -u admin:{} https://example.com", lambda m: m.take(10)),
    "curl long user": ("curl-user", "curl --user 'admin:{}' https://example.com", Maker.word),
    "netrc": ("netrc", "machine x login me password {}", lambda m: m.take(10)),
    "sshpass": ("assignment", "sshpass -p {} ssh host", lambda m: m.take(10)),
    "SQL role": ("sql", "ALTER ROLE app WITH PASSWORD '{}'", Maker.word),
    "SQL user": ("sql", "CREATE USER app IDENTIFIED BY '{}'", Maker.word),
}

PEM: dict[str, tuple[str, bool]] = {
    "RSA key": ("RSA PRIVATE KEY", True),
    "PKCS 8 key": ("PRIVATE KEY", True),
    "OpenSSH key": ("OPENSSH PRIVATE KEY", True),
    "EC key": ("EC PRIVATE KEY", True),
    "PGP key": ("PGP PRIVATE KEY BLOCK", True),
    "key cut off": ("RSA PRIVATE KEY", False),
}


def planted(seed: int) -> dict[str, Planted]:
    """Every shape, made from `seed`."""
    maker, shapes = Maker(seed), {}
    for name, (kind, prefix, tail) in PREFIXED.items():
        secret = prefix + tail(maker)
        shapes[name] = Planted(secret, secret, kind)
    for name, (kind, around, make) in IN_CONTEXT.items():
        secret = make(maker)
        shapes[name] = Planted(around.format(secret), secret, kind)
    for name, (label, ended) in PEM.items():
        secret = maker.lines(4)
        end = f"\n-----END {label}-----" if ended else ""
        shapes[name] = Planted(f"-----BEGIN {label}-----\n{secret}{end}", secret, "pem")
    label, secret = "PRIVATE KEY", maker.lines(3).replace("\n", "\\n")
    account = (
        f'{{"type": "service_account", "private_key": "-----BEGIN {label}-----\\n{secret}\\n-----END {label}-----\\n"}}'
    )
    shapes["service account"] = Planted(account, secret, "pem")
    return shapes


SHAPES = planted(1)
TEMPLATES = {
    "start": "{} is what the log printed when the deploy failed.",
    "middle": "The deploy failed since {} had been rotated by hand on Friday.",
    "end": "Rotate it and never paste it again: {}",
    "quoted": 'The agent pasted "{}" into the chat.',
    "command": "$ deploy --env prod {} --verbose && echo done",
}


def test_at_least_forty_five_shapes_are_planted() -> None:
    assert len(SHAPES) >= 45


@pytest.mark.parametrize("name", SHAPES)
def test_a_secret_leaves_and_the_sentence_stays(name: str) -> None:
    shape = SHAPES[name]
    for template in TEMPLATES.values():
        text = template.format(shape.text)
        assert shape.secret in text
        result = redact(text)
        head, _, tail = template.partition("{}")
        assert shape.secret not in result.text
        assert not any(line in result.text for line in shape.secret.split("\n") if len(line) > 5)
        assert result.text.startswith(head)
        assert result.text.endswith(tail)
        assert f"[redacted:{shape.kind}]" in result.text
        assert shape.kind in result.kinds


@pytest.mark.parametrize("seed", range(2, 12))
def test_no_shape_depends_on_the_luck_of_one_seed(seed: int) -> None:
    missed = [name for name, shape in planted(seed).items() if shape.secret in redact(shape.text).text]
    assert missed == []


def test_what_stands_around_a_secret_is_kept_to_the_letter() -> None:
    maker = Maker(5)
    secret = maker.take(12)
    assert redact(f"psql postgres://app:{secret}@db:5432/app -c 'select 1'").text == (
        "psql postgres://app:[redacted:url-password]@db:5432/app -c 'select 1'"
    )
    assert redact(f"f(user=a, password={secret}, retries=3).").text == (
        "f(user=a, password=[redacted:assignment], retries=3)."
    )
    label = "EC PRIVATE KEY"
    key = f"-----BEGIN {label}-----\n{maker.lines(2)}\n-----END {label}-----"
    assert redact(f"before\n{key}\nafter").text == (
        f"before\n-----BEGIN {label}-----[redacted:pem]-----END {label}-----\nafter"
    )


def test_a_key_that_was_cut_and_put_on_one_line_leaves_too() -> None:
    maker = Maker(6)
    body = maker.lines(3).replace("\n", " ")
    result = redact(f"-----BEGIN RSA PRIVATE KEY----- {body} was in the transcript")
    assert body[:40] not in result.text
    assert body[-40:] not in result.text
    assert result.text.endswith(" was in the transcript")


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("password=123456", "password=[redacted:assignment]"),
        ("api_key=1234567890", "api_key=[redacted:assignment]"),
        ("user=x pass=Hunter22x", "user=x pass=[redacted:assignment]"),
        ("f(password=hunter2))))))))))))", "f(password=[redacted:assignment]))))))))"),
        ('PASSWORD="two words"', 'PASSWORD="[redacted:assignment]"'),
        ('password = "nev3rclosed and so on', 'password = "[redacted:assignment] and so on'),
        ('passphrase: "correct horse battery"', 'passphrase: "[redacted:assignment]"'),
        ('password: "p\\"q1xyz"', 'password: "[redacted:assignment]"'),
        ("--password hunter --user x", "--password [redacted:assignment] --user x"),
        ("[password=hunter2]", "[password=[redacted:assignment]]"),
    ],
)
def test_weak_values_leave_where_their_form_says_what_they_are(text: str, result: str) -> None:
    assert redact(text).text == result


def test_a_secret_is_found_inside_a_short_rejected_value_and_behind_a_long_one() -> None:
    assert redact("token=${X}/password=hunter2").text == "token=${X}/password=[redacted:assignment]"
    rejected = "${" + "x" * 300
    assert redact(f"token={rejected} password=hunter2").text == f"token={rejected} password=[redacted:assignment]"


def test_no_text_can_buy_time_with_secrets_behind_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    key, secret = "AK" + "IA" + "Q" * 16, Maker(8).take(40, ALNUM + "/+")
    assert secret not in redact(f"{key} and {secret}").text
    monkeypatch.setattr(secrets, "_PASSES", 1)
    assert redact(f"{key} and {secret}").text == f"[redacted:aws] and {secret}"


def test_several_secrets_leave_at_once_and_each_kind_is_named_once() -> None:
    maker = Maker(7)
    first, second, third = maker.take(36), maker.take(36), maker.take(12)
    text = f"gh{'p_'}{first} and gh{'p_'}{second} for redis://:{third}@h"
    result = redact(text)
    assert result == Redaction(
        "[redacted:github] and [redacted:github] for redis://:[redacted:url-password]@h",
        ("github", "url-password"),
    )


def test_redacting_twice_is_redacting_once() -> None:
    for shape in SHAPES.values():
        once = redact(TEMPLATES["middle"].format(shape.text))
        assert once.kinds
        assert redact(once.text) == Redaction(once.text, ())


FRAGMENTS = st.sampled_from(
    [
        *(shape.text for shape in SHAPES.values()),
        *(shape.text[: len(shape.text) // 2] for shape in SHAPES.values()),
        *"'\"`:=,;@/ \n\\()[]{}<>-_.",
        "password",
        "token=",
        "SECRET_KEY=",
        "://u:",
        "--password ",
        "[redacted:x]",
        "curl -u ",
        "aws",
    ]
)


@given(st.lists(FRAGMENTS, max_size=8).map("".join))
def test_redacting_any_mixture_twice_is_redacting_it_once(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text
    assert (once.text == text) == (once.kinds == ())


PROSE = """
The password is checked by the gateway before anything else runs.
token: the lexer's unit, not the credential
secret = None
password=os.environ['X']
password = os.environ["DB_PASSWORD"]
api_key=settings.api_key
token: str
token: Optional[str] = None
password: str | None = None
password: ${DB_PASSWORD}
password: {{ vault_db_password }}
export GITHUB_TOKEN=$(gh auth token)
TOKEN="$GITHUB_TOKEN" make release
Authorization: Bearer $TOKEN
Authorization: Bearer <your-token>
Authorization: Basic authentication is off by default.
Set api_key=<your-key> in the settings file.
api_key: "YOUR_API_KEY"
api_key="your-api-key-here"
password: ********
secret: xxxxxxxx
token = get_token(user)
token = self.tokens[index]
connect(user=user, password=password, token=access_token)
if password == "": raise ValueError
secret := cfg.Secret
const token = req.headers.authorization
let token = await fetchToken()
The commit 4f2a9c1e8b7d6a5f4e3c2b1a0f9e8d7c6b5a4f3e broke the build.
merge-base 9fceb02d0ae598e95dc970b74767f19372d61af8 is the parent
id 123e4567-e89b-12d3-a456-426614174000 was seen twice
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
See https://example.com/path?q=1#frag and http://localhost:8080/@scope/pkg
Clone git@github.com:owner/repo.git or ssh://git@github.com/owner/repo
Mail person@example.org or a.b+c@sub.example.co.uk about it.
src/auth/token_store.py and docs/password-policy.md moved
The style #password-input.token { color: #a1b2c3d4 } is unused.
data:image/png;base64,iVBORw0KGgo is the prefix of every image
max_tokens=4096 and token_count: 128000 are the limits
tokens: 1200 in, 300 out
Unexpected token: ';' at line 3
sort_key=created_at and primary_key: id, cache_key=user:42:profile
The secret: keep the functions short.
auth: fix the redirect after login
password: use argon2id with sha256 fallback
tests/http/test_14_auth.py::TestAuth::test_14_05_basic_large_pw[h3]
docker run -u 1000:1000 image, then curl the health page
curl -u "$USER:$PASSWORD" https://example.com
mysql -u root -p shop
The flag --password prompts, and --token FILE reads a file.
--proxy-pass PASS          Pass phrase for the private key
sk-learn, task-based, risk-free, disk-usage-report-for-all-nodes
The key-value store keeps key-frames; hf_transformers_pipeline_loader loads them
eyJ begins every JSON web token, AKIA every access key id
-----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- frame the block
The -----BEGIN RSA PRIVATE KEY----- line alone is no secret.
npm_config_registry, npm_lifecycle_event, github_pat_ and ghp_ are prefixes
Don't read .netrc if both login and password are already set
password_hash, secret_name: db-creds-v2, token_url=https://example.com/oauth/token
Basic parent+children, bearer of bad news, basic authentication-related changes
12:30:45:123456 ERROR 127.0.0.1:8080 2026-11-30T14:41:29Z
Use `password=` or `token:` in the pattern, and `secret` in the name.
Password must have 8 characters, token expires in 15 minutes
fix(token): refresh=true, credentials: 'same-origin', auth=none
pwd=/home/me/project cd -; PWD=/srv
Passwords, tokens and secrets: all three are redacted.
Clone ssh://a-user-with-a-long-plain-name@host.example.com/repo and see
The name app.client.a_long_identifier_of_some_kind is a module path.
A `credential-process = "cargo:macos-keychain"` names a helper, no secret.
token: 1234567890 and max_secret=12 are counts, pass=3 and pass: 12 are runs
""".strip().split("\n")


def test_prose_and_code_about_secrets_pass_unchanged() -> None:
    assert len(PROSE) >= 60
    assert [line for line in PROSE if redact(line) != Redaction(line, ())] == []
    token = f"gl{'pat-'}{Maker(3).take(20)}"
    assert [line for line in PROSE if redact(f"{line}\n{token}") != (f"{line}\n[redacted:gitlab]", ("gitlab",))] == []


def test_a_thousand_real_commit_messages_raise_no_alarm() -> None:
    if not MESSAGES:
        pytest.skip("BACKSTORY_COMMIT_MESSAGES names no file of messages separated by \\x1e lines.")
    messages = Path(MESSAGES).read_text(encoding="utf-8", errors="replace").split("\x1e")
    assert len(messages) >= 1000
    alarms = [message for message in messages if redact(message).kinds]
    assert alarms == []
    secret = Maker(4).take(20)
    assert all(secret not in redact(f"{message}\npassword={secret}").text for message in messages)


HOSTILE = [
    "a", "ghp_", "eyJ", "eyJaaaaaaaaaa.", "://a:", "://a:b@", "-----BEGIN PRIVATE KEY-----", "-", "token=a,",
    "-----BEGIN PRIVATE KEY-----\nProc-Type: 4", "token", "password='", "password: ", "--password ", "A_KEY=B_KEY,",
    "Authorization: Bearer ", " -u curl a", "login a password ", "identified by '", "SK" + "0a" * 16, ".aaaaaa.",
    "12345678:", 'password="\\"', "password=)", "&amp;", "[redacted:x]", "sig=", "token: str = ", "(", "_",
    "\u0130token=",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_costs_time_in_proportion_to_its_length(unit: str) -> None:
    """Square time would make eight times the text cost 64 times as much; 24 leaves room for a busy machine."""

    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    small = min(seconds(5_000) for _ in range(3))
    assert seconds(40_000) <= 24 * small + 0.05


def test_a_megabyte_of_one_letter_is_read_in_a_moment() -> None:
    text = "a" * 1_000_000
    started = time.process_time()
    assert redact(text).text == text
    assert redact(f"{text} password={'q7' * 8}").kinds == ("assignment",)
    assert time.process_time() - started < 5
