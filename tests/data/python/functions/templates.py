from string import Template


def letter(name: str, **fields: str) -> str:
    return Template("Dear $name, $body").safe_substitute(name=name, **fields)


assert letter("Ada", body="welcome") == "Dear Ada, welcome"
assert letter("Ada") == "Dear Ada, $body"
