import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.net import MAX_URL, bad_url
from bot.words import Code

PUBLIC = [
    "https://example.com",
    "https://mcp.example.com/sse?key=a:b@c#top",
    "HTTPS://Example.COM/Path",
    "https://example.com:443/",
    "https://example.com:8443/mcp",
    "https://xn--bcher-kva.example.de/",
    "https://a-b.c1.co.uk",
    "https://1.1.1.1/",
    "https://8.8.8.8:8443",
    "https://172.32.0.1/",
    "https://100.128.0.1/",
    "https://[2606:4700:4700::1111]/dns",
    "https://[2a00:1450::1]:8443/",
    "https://local.example.com/",
    "https://example.com?x=https://127.0.0.1/",
]

NOT_PUBLIC = [
    # not https
    "http://example.com",
    "ftp://example.com",
    "https:example.com",
    "https:/example.com",
    "//example.com",
    "example.com",
    "https://",
    "https:///path",
    "javascript:alert(1)",
    # credentials, and what looks like them
    "https://user@example.com",
    "https://user:pass@example.com",
    "https://example.com@127.0.0.1/",
    "https://@example.com/",
    # characters that parsers disagree on
    "https://example.com\\@127.0.0.1/",
    "https://exa mple.com",
    "https://example.com/\n",
    "https://exam\tple.com",
    "https://exämple.com",
    "https://１２７.0.0.1",
    "https://127。0。0。1/",
    "https://example.com\u200b/",
    "https://%31%32%37.0.0.1/",
    "https://exa_mple.com",
    "https://example..com",
    "https://-example.com",
    # names of local networks
    "https://localhost",
    "https://LOCALHOST:8443/",
    "https://localhost./",
    "https://example.com./",
    "https://api",
    "https://printer.local",
    "https://metadata.google.internal/computeMetadata/v1/",
    "https://x.localhost",
    "https://router.lan",
    "https://1.0.0.127.in-addr.arpa/",
    # IPv4: loopback, private, link-local, metadata, CGNAT, unspecified, multicast, reserved
    "https://127.0.0.1",
    "https://127.1.2.3",
    "https://10.0.0.1",
    "https://172.16.0.1",
    "https://172.31.255.255",
    "https://192.168.1.1",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1",
    "https://100.127.255.255",
    "https://0.0.0.0",
    "https://0.1.2.3",
    "https://224.0.0.1",
    "https://240.0.0.1",
    "https://255.255.255.255",
    "https://192.0.2.1",
    "https://198.18.0.1",
    "https://203.0.113.9",
    "https://192.88.99.1",
    # IPv4 in other spellings
    "https://2130706433",
    "https://0x7f000001",
    "https://0x7f.0.0.1",
    "https://0x7f.1",
    "https://0177.0.0.1",
    "https://127.1",
    "https://127.0.0.01",
    "https://1.1.1.1.",
    "https://1.1.1.0x",
    "https://example.0x7f",
    "https://example.1",
    "https://1.1.1.256",
    # IPv6
    "https://[::1]",
    "https://[::]",
    "https://[::ffff:127.0.0.1]",
    "https://[::ffff:1.1.1.1]",
    "https://[::127.0.0.1]",
    "https://[64:ff9b::7f00:1]",
    "https://[64:ff9b:1::1]",
    "https://[2002:7f00:1::]",
    "https://[2001:0:1::1]",
    "https://[2001:db8::1]",
    "https://[fc00::1]",
    "https://[fd00:ec2::254]",
    "https://[fe80::1]",
    "https://[fe80::1%25eth0]",
    "https://[2606:4700::1%25eth0]",
    "https://[ff02::1]",
    "https://[100::1]",
    "https://[::1",
    "https://[1.1.1.1]",
    "https://[2606:4700::1]x",
    "https://2606:4700::1",
    # ports
    "https://example.com:80",
    "https://example.com:8080",
    "https://example.com:0443",
    "https://example.com:",
    "https://example.com:x",
    "https://example.com:443:443",
    "https://example.com:65536",
    "https://1.1.1.1:22",
    "https://[2606:4700::1]:22",
]


@pytest.mark.parametrize("url", PUBLIC)
def test_a_public_https_address_is_taken(url: str):
    assert bad_url(url) is None


@pytest.mark.parametrize("url", NOT_PUBLIC)
def test_everything_else_is_refused_with_the_reason(url: str):
    refusal = bad_url(url)
    assert refusal is not None
    assert refusal.code is Code.BAD_URL
    assert refusal.detail.endswith(".")


def test_a_long_address_is_refused():
    url = "https://example.com/"
    assert bad_url(url + "x" * (MAX_URL - len(url))) is None
    assert bad_url(url + "x" * MAX_URL) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8788/mcp",
        "http://localhost:3000",
        "http://[::1]:9/",
        "https://printer.local",
        "http://10.0.0.1",
        *PUBLIC,
    ],
)
def test_where_private_addresses_are_allowed_they_are_taken(url: str):
    assert bad_url(url, private_ok=True) is None


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1",
        "http://user@127.0.0.1",
        "http://2130706433",
        "http://127.0.0.1\\x",
        "http://127.0.0.1:0",
        "http://127.0.0.1:65536",
        "http://[fe80::1%25eth0]/",
    ],
)
def test_odd_spellings_are_refused_there_too(url: str):
    assert bad_url(url, private_ok=True) is not None


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_no_number_is_a_host(number: int):
    for host in (f"{number}", f"{number:#x}", f"0{number:o}"):
        assert bad_url(f"https://{host}/") is not None


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_text_is_judged(text: str):
    for url in (text, f"https://{text}", f"https://[{text}]", f"https://example.com:{text}"):
        assert bad_url(url) is None or bad_url(url).code is Code.BAD_URL
