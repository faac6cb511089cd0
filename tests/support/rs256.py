"""RS256 by hand: a key that is for the tests alone, and tokens as Cloudflare Access signs them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


@dataclass(frozen=True, slots=True)
class TestKey:
    """An RSA key pair by its numbers."""

    __test__ = False

    kid: str
    n: int
    d: int
    e: int = 65537

    @property
    def jwk(self) -> dict[str, str]:
        """The public half, as a team's list of keys shows it."""
        return {
            "kid": self.kid,
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "n": encode(self.n.to_bytes(256)),
            "e": encode(self.e.to_bytes(3)),
        }

    def sign(self, data: bytes) -> bytes:
        """The RSASSA-PKCS1-v1_5 signature with SHA-256 over ``data``."""
        return pow(int.from_bytes(padded(data)), self.d, self.n).to_bytes(256)

    def token(self, claims: Mapping[str, Any], **header: Any) -> str:
        """A signed token; ``header`` overrides members of its header."""
        head = {"alg": "RS256", "kid": self.kid, "typ": "JWT", **header}
        signed = ".".join(encode(json.dumps(part).encode()) for part in (head, claims))
        return f"{signed}.{encode(self.sign(signed.encode()))}"


async def made_by(jwk: Any, signed: bytes, signature: bytes) -> bool:
    """What Web Crypto does in the Worker: whether the signature is by that key."""
    n, e = (int.from_bytes(decode(jwk[name])) for name in ("n", "e"))
    return pow(int.from_bytes(signature), e, n).to_bytes(256) == padded(signed)


def padded(data: bytes) -> bytes:
    """EMSA-PKCS1-v1_5 for a key of 2048 bits."""
    info = _SHA256_INFO + hashlib.sha256(data).digest()
    return b"\0\1" + b"\xff" * (256 - 3 - len(info)) + b"\0" + info


def encode(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Undo ``encode``."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


OLD = TestKey(
    "key-old",
    int(
        "eeff94afeaabd69ac9e2eae37ba5fddc2f7ada1a9e5b215cc297213616beff87a7ce97b5e6253f9f40b0"
        "125d9e4a32b80725362d8738d2497515140995c4918424d6d7cab402316fc060241193635f910b46312a"
        "408ed7e57d88f15dd8aa22915a30942136c08b760540f5da5ecbc0f047937ee52a42a54f1867d10872a8"
        "79d020a36c26eda115fd872b5ddf340886e1337c6c5162d00c2297dbcdd795414d59aaeafe2b9a2e2813"
        "03426641e2213af5516192b5bde97b5c251aad58fd50c086cfebed907e41b4acf3546bfe140b56ac1d2a"
        "ba9a969a2db053ffeebcdeff47a968806159d3a690be8fa912c58e7e022e44001aabf03488d1f52fd51d"
        "623f631f",
        16,
    ),
    int(
        "29d9af5baea83088225a0def8fb35d64b51bba1d7725560e3c34e2a7ea0bc00b2d234c059a2b639cab63"
        "29942327b301ee9e61824f6f6fc355313fb4fdf8d1d265f1091081bcf0933508a0c8431adf9d32703423"
        "c5f23d73fe2b80b8823c28997345966aca7fa4ec21b76255becbc7194c2f53c525454e552f5cde89b02a"
        "384a1703b356d6e2a6e4b777c587ffcdf37bb188cf81b562d225a0c2a54699ff461adef740f827f2ed5e"
        "5ce1f573d603b2235fc1aa0777a3e6c589f9e44f8fb52af78fe4d58150c3849b06b4e2755da8d35222e8"
        "e3a77ab2295aeb4c1b7c4ccff3cc33a0dfe8108ac7ef957adffbbe04ac162142eb96a12afc99c4d0841e"
        "a5ac5e01",
        16,
    ),
)
NEW = TestKey(
    "key-new",
    int(
        "ad03465b6f85f47e7837059b73c647c57eb4e57b97d0ccfe22420ffe1a691fa646ccac7e63183eb12f7e"
        "7cb8ca3603b03bc25fec27dcf9e66a82435cf982b6c4eef93dca76905650809789200f720ba0742e33dd"
        "e1cfca82245c3ca1c621792cf01196d3f2acc44e91b28e5e0b0681a9fe45a0f287c74ef9853bc6b06476"
        "c4ee9d99104e9522fbd59ef4b3a949f7dec8aea06a833296018663c9730ec1f53558470983e74a7a882d"
        "6a776842ed5e029630c4d2e47a0e2f67a71279a7cf484e5c54eb71a14fbdb78771c0219bae94045dd524"
        "557120732b97adcf9ec5b9d89651110ca57215ce8e05e839407ec239a8fd2fab40fb794b785916cf078b"
        "7b1b8f2f",
        16,
    ),
    int(
        "1120635d16c79c61ce95a7c4f12b7e1c534425f95b986c4a75eab33994b4b650d7ee57def50147e7734b"
        "a29e0a4a59881f0a49438fd8a4964611da08409ccb69e83c1cfd474a57790599ba95c561a53bff743967"
        "2bfccd4f9fb8cfb9b5eac75b86f23ecb8158cfdff535473990fed664150b207911aecda70ea4d1b0d169"
        "1e6a5475909a7be7c51a43bfa423aefe39ea08a47ad256d62f5772db9b1f8f99fa14be127cb40d5a76e0"
        "31bef1154508b5a4198e6b313ea002dde8e34974d4d9878e7c2c017300fb3a15e0c9aaee22bb51abea6b"
        "d3d220d0d9e202db3240e9d0b0cab1aab3e41137aca907f2369fc43577b5d2c943e9b181f6b1ee4262a4"
        "b19f69e5",
        16,
    ),
)
