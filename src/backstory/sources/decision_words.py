"""The words by which decision records say their parts and their status, in the languages that people write them in."""

from __future__ import annotations

import re

# Headings and fields, as `name_of` gives them.
STATUS = tuple(
    "status|state|adr s status|adr status|decision status|ステータス|adr ステータス|状態|状态|狀態|zustand|statut|"
    "estado|stato|статус|상태".split("|")
)
CONTEXT = tuple(
    "context and problem statement|context|problem statement|problem|background|motivation|issue|コンテキスト|文脈|"
    "背景|背景と課題|背景 課題|課題|経緯|上下文|问题陈述|kontext|kontext und problemstellung|contexte|contexto|"
    "contesto|контекст|배경|맥락".split("|")
)
DECISION = tuple(
    "decision outcome|decision|decisions|the decision|decision making|outcome|決定|決定事項|決定内容|意思決定|判断|"
    "决定|决策|決策|entscheidung|décision|decisión|decisão|decisione|решение|결정".split("|")
)
CONSEQUENCES = frozenset(
    "consequences|positive consequences|negative consequences|confirmation|validation|implications|結果|影響|結果 影響|"
    "结果|後果|konsequenzen|conséquences|consecuencias|consequências|последствия|결과".split("|")
)
OPTIONS = tuple(
    "considered options|options considered|considered alternatives|alternatives considered|options|alternatives|"
    "検討した選択肢|検討した代替案|選択肢|代替案|備選方案|备选方案|考虑的选项|betrachtete optionen|options envisagées|"
    "opciones consideradas|opções consideradas|рассмотренные варианты".split("|")
)
ARGUMENTS = ("pros and cons of the options", "pros and cons")
LINKS = tuple(
    "links|related|related adrs|related decisions|more information|references|関連|関連 adr|関連adr".split("|")
)
DATE = tuple("date|decided|decision date|decided at|created|created date|日付|日期|datum|fecha|data|дата".split("|"))
DECIDERS = tuple(
    "deciders|decision makers|decision maker|decided by|authors|author|owner|owners|決定者|意思決定者|決策者|"
    "entscheider|décideurs|decisores".split("|")
)
# Who wrote it down approved nothing.
APPROVERS = tuple(
    "deciders|decision makers|decision maker|decided by|approved by|approvers|approver|accepted by|決定者|意思決定者|"
    "承認者|決策者|批准人|批准者|entscheider|genehmigt von|décideurs|approuvé par|decisores|aprobado por".split("|")
)
FILES = ("files", "affected files", "modified files", "paths", "code")

# What says that other records stand before or behind this one.
BY = re.compile(
    r"(?<!partially )(?<!partly )(?:superseded?|replaced|obsoleted)[\s-]*by\b|"
    r"(?:により|によって|で)(?:置き?換え|置換|廃止)|被.{0,40}取代",
    re.I,
)
OVER = re.compile(r"\b(?:supersedes|replaces|obsoletes)\b|を(?:置き?換え|置換|廃止)|取代了?", re.I)
FIRST_WORDS = re.compile(
    r"\W*(?:superseded?|replaced|obsoleted)[\s-]*by\b|\W*(?:supersedes|replaces|obsoletes)\b", re.I
)
# A record that says so leaves the other standing.
IN_PART = re.compile(r"\b(?:not|partially|partly|in part)\b|しない|ではない|ものではな|だけを|のみを|一部", re.I)

# The first that occurs anywhere in what stands under the status wins.
_STATUSES = (
    (
        "superseded",
        r"(?<!partially )(?<!partly )supersed(?:ed|e by)|replaced by|obsoleted by|置き?換え|置換|上書き|被取代|已取代|"
        r"ersetzt|remplacé|reemplazad|substituíd|заменен",
    ),
    ("deprecated", r"deprecat|obsolete|retired|withdrawn|非推奨|廃止|已弃用|废弃|veraltet|obsolèt|obsolet|устарел"),
    (
        "rejected",
        r"reject|declined|denied|not accepted|却下|不採用|拒否|已拒绝|abgelehnt|rejeté|rechazad|rejeitad|отклонен",
    ),
    ("proposed", r"\b(?:not|never|yet to be) (?:yet )?(?:accepted|decided|approved)"),
    (
        "accepted",
        r"accept|approved|adopted|\bactive\b|decided|\bdone\b|implemented|in force|\bfinal\b|採択|承認|採用|決定|受理|"
        r"已接受|已采纳|已采用|akzeptiert|angenommen|aceptad|aceit|adopté|принят|승인|채택",
    ),
    (
        "proposed",
        r"propos|draft|pending|\brfc\b|review|\bopen\b|on[ -]hold|deferred|paused|\bwip\b|提案|検討|ドラフト|草案|提议|"
        r"vorgeschlagen|propuest|предложен|제안",
    ),
)
_KNOWN = tuple((status, re.compile(pattern, re.I)) for status, pattern in _STATUSES)
_CHOICES = re.compile(r"\{.*\|.*\}|^\W*proposed\s*\|", re.I)


def status_of(text: str) -> str | None:
    """Which of the five statuses the text under a status means, or None.

    Its first line says it, unless a later one says that the record was superseded.
    """
    if _CHOICES.search(text):
        return None
    if BY.search(text):
        return "superseded"
    return _named(text.split("\n", 1)[0]) or _named(text)


def _named(text: str) -> str | None:
    return next((status for status, pattern in _KNOWN if pattern.search(text)), None)
