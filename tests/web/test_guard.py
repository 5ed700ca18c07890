"""What stands before the page: nothing of the memory leaves without the token, and nothing changes from elsewhere."""

import pytest

from backstory.surfaces.web.guard import MOST_BYTES
from tests.project.memory import PERSON, Memory
from tests.web.client import ORIGIN, PLACE, TOKEN, Client

SECRET = "Chose WAL mode"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)


def nothing_told(answer, status: int) -> None:
    assert answer.status == status, answer.text
    assert SECRET not in answer.text and "<form" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize("cookie", ["", "backstory_7338=", "backstory_7338=wrong", f"backstory_7339={TOKEN}", TOKEN])
def test_without_the_token_nothing_is_shown(page: Client, filled: dict[str, str], cookie: str) -> None:
    for address in ("/", "/entries", "/live", "/static/page.css", f"/entry/{filled['decision']}", "/no/such/page"):
        nothing_told(page.get(address, cookie=cookie), 401)
    assert SECRET in page.get("/entries").text


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1:80", f"{PLACE}.example.org", "localhost", "0.0.0.0:7338", ""]
)
def test_a_page_that_made_its_name_point_here_gets_nothing(page: Client, filled: dict[str, str], host: str) -> None:
    nothing_told(page.get("/", host=host), 421)
    nothing_told(page.get(f"/?token={TOKEN}", host=host), 421)
    assert page.get("/entries", host="localhost:7338").status == 200


@pytest.mark.parametrize("origin", ["http://example.org", "null", "https://127.0.0.1:7338", "http://127.0.0.1:7339"])
def test_another_origin_reads_and_changes_nothing(page: Client, filled: dict[str, str], origin: str) -> None:
    nothing_told(page.get("/entries", origin=origin), 403)
    nothing_told(page.post(f"/review/{filled['proposed']}/approve", origin=origin), 403)
    assert page.get("/entries", origin=ORIGIN).status == 200


def test_a_request_that_a_browser_calls_foreign_is_refused_but_a_link_opens(
    page: Client, filled: dict[str, str]
) -> None:
    for site in ("cross-site", "same-site"):
        nothing_told(page.get("/entries", sec_fetch_site=site, sec_fetch_mode="cors"), 403)
        nothing_told(page.get("/entries", sec_fetch_site=site, sec_fetch_mode="no-cors"), 403)
    assert page.get("/entries", sec_fetch_site="cross-site", sec_fetch_mode="navigate").status == 200


def test_the_first_visit_keeps_the_token_where_no_script_reads_it(page: Client) -> None:
    first = page.get(f"/?token={TOKEN}", cookie="")
    assert first.status == 200 and first.headers["set-cookie"] == (
        f"backstory_7338={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    )
    assert TOKEN not in first.text and "url=/" in first.text
    wrong = page.get("/?token=wrong", cookie="")
    assert wrong.status == 401 and "set-cookie" not in wrong.headers


def test_every_answer_keeps_scripts_frames_and_caches_out(page: Client, filled: dict[str, str]) -> None:
    answers = [
        page.get("/"),
        page.get("/static/page.js"),
        page.get("/no/such"),
        page.get("/live"),
        page.get("/", host="x"),
    ]
    for answer in [*answers, page.post("/review/undo")]:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-frame-options"] == "DENY" and answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_form_without_the_mark_of_the_page_changes_nothing(
    page: Client, memory: Memory, filled: dict[str, str]
) -> None:
    address = f"/review/{filled['proposed']}/approve"
    assert page.post(address, {"csrf": ""}).status == 403
    assert page.post(address, {"csrf": page.mark()[:-1]}).status == 403
    assert page.post(address, {"csrf": Client(str(memory.root), PERSON).mark()}).status == 303, "the same token"
    assert page.post(f"/entry/{filled['note']}/confirm", origin="").status == 403
    assert page.post(f"/entry/{filled['note']}/confirm", content_type="text/plain").status == 415
    assert page.post(f"/entry/{filled['note']}/confirm", {"reason": "x" * MOST_BYTES}).status == 413
    assert page.get(f"/entry/{filled['note']}/confirm").status == 405
    assert page.post(f"/entry/{filled['note']}/confirm").status == 303


def test_two_hosts_or_none_are_no_host(page: Client) -> None:
    page.headers["Host"] = "example.org"
    assert page.get("/entries").status == 421
