"""Which characters show nothing, and which of them may stand where.

Listed in hexadecimal, since the tables of the interpreter differ between its versions.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Final


def _characters(ranges: str) -> str:
    """Give the inside of a character class that holds *ranges*."""
    return "".join("-".join(chr(int(end, 16)) for end in one.split("-")) for one in ranges.split())


#: The last two characters of each plane are none, and never will be.
_NO_CHARACTERS: Final = " ".join(f"{plane:x}fffe {plane:x}ffff" for plane in range(15))

#: What shows nothing, or turns the line around; what is blank; and what is private: it looks like
#: whatever a font makes of it, mostly like a box. Half a surrogate pair is no character at all, and
#: could not be sent. Tab, newline and spaces are not among them.
INVISIBLE: Final = _characters(
    "0-8 b-1f 7f-9f ad 34f 61c 115f 1160 17b4 17b5 180b-180f 200b-200f 2028-202e 2060-206f 2800 "
    "3164 d800-dfff e000-f8ff fdd0-fdef fe00-fe0f feff ffa0 fff0-fffc 1107f 13430-13442 16fe4 "
    f"1bca0-1bca3 1d159 1d173-1d17a e0000-e0fff f0000-10ffff {_NO_CHARACTERS}"
)

#: Scripts in which a joiner, or the lack of one, changes how two letters are written: Arabic and
#: its relatives, then those of India and what lies east of it.
JOINING: Final = _characters(
    "620-6ff 700-7ff 840-8ff fb50-fdcf fdf0-fdff fe70-fefc "
    "900-dff f00-109f 1780-17b3 17b6-180a 1810-18af 1b00-1bff"
)

#: What stands before a joiner, and what after it, in the emoji of emoji-zwj-sequences.txt 17.0.
BEFORE_JOINER: Final = _characters(
    "2640 2642 26d3 26f9 2764 1f344 1f34b 1f3c3 1f3c4 1f3ca-1f3cc 1f3f3 1f3f4 1f408 1f415 "
    "1f426 1f430 1f43b 1f441 1f466-1f469 1f46e-1f471 1f473 1f477 1f481 1f482 1f486 1f487 1f48b "
    "1f575 1f62e 1f635 1f636 1f642 1f645-1f647 1f64b 1f64d 1f64e 1f6a3 1f6b4-1f6b6 1f91d 1f926 "
    "1f935 1f937-1f939 1f93c-1f93e 1f9af 1f9b8 1f9b9 1f9bc 1f9bd 1f9cd-1f9cf 1f9d1 1f9d2 1f9d4 "
    "1f9d6-1f9df 1faef 1faf1"
)
AFTER_JOINER: Final = _characters(
    "2194 2195 2620 2640 2642 2695 2696 26a7 2708 2744 2764 27a1 2b1b 1f308 1f32b 1f33e 1f373 "
    "1f37c 1f384 1f393 1f3a4 1f3a8 1f3eb 1f3ed 1f430 1f466-1f469 1f48b 1f4a5 1f4a8 1f4ab 1f4bb "
    "1f4bc 1f525 1f527 1f52c 1f5e8 1f680 1f692 1f7e9 1f7eb 1f91d 1f9af-1f9b3 1f9ba 1f9bc 1f9bd "
    "1f9d1 1f9d2 1fa70 1fa79 1faef 1faf2"
)

#: What can be text or emoji: emoji-variation-sequences.txt 15.0, but for what is in ASCII.
TEXT_OR_EMOJI: Final = _characters(
    "a9 ae 203c 2049 2122 2139 2194-2199 21a9 21aa 231a 231b 2328 23cf 23e9 23ea 23ed-23ef "
    "23f1-23f3 23f8-23fa 24c2 25aa 25ab 25b6 25c0 25fb-25fe 2600-2604 260e 2611 2614 2615 2618 "
    "261d 2620 2622 2623 2626 262a 262e 262f 2638-263a 2640 2642 2648-2653 265f 2660 2663 2665 "
    "2666 2668 267b 267e 267f 2692-2697 2699 269b 269c 26a0 26a1 26a7 26aa 26ab 26b0 26b1 26bd "
    "26be 26c4 26c5 26c8 26cf 26d1 26d3 26d4 26e9 26ea 26f0-26f5 26f7-26fa 26fd 2702 2708 2709 "
    "270c 270d 270f 2712 2714 2716 271d 2721 2733 2734 2744 2747 2753 2757 2763 2764 27a1 2934 "
    "2935 2b05-2b07 2b1b 2b1c 2b50 2b55 3030 303d 3297 3299 1f004 1f170 1f171 1f17e 1f17f "
    "1f202 1f21a 1f22f 1f237 1f30d-1f30f 1f315 1f31c 1f321 1f324-1f32c 1f336 1f378 1f37d 1f393 "
    "1f396 1f397 1f399-1f39b 1f39e 1f39f 1f3a7 1f3ac-1f3ae 1f3c2 1f3c4 1f3c6 1f3ca-1f3ce "
    "1f3d4-1f3e0 1f3ed 1f3f3 1f3f5 1f3f7 1f408 1f415 1f41f 1f426 1f43f 1f441 1f442 1f446-1f449 "
    "1f44d 1f44e 1f453 1f46a 1f47d 1f4a3 1f4b0 1f4b3 1f4bb 1f4bf 1f4cb 1f4da 1f4df 1f4e4-1f4e6 "
    "1f4ea-1f4ed 1f4f7 1f4f9-1f4fb 1f4fd 1f508 1f50d 1f512 1f513 1f549 1f54a 1f550-1f567 1f56f "
    "1f570 1f573-1f579 1f587 1f58a-1f58d 1f590 1f5a5 1f5a8 1f5b1 1f5b2 1f5bc 1f5c2-1f5c4 "
    "1f5d1-1f5d3 1f5dc-1f5de 1f5e1 1f5e3 1f5e8 1f5ef 1f5f3 1f5fa 1f610 1f687 1f68d 1f691 1f694 "
    "1f698 1f6ad 1f6b2 1f6b9 1f6ba 1f6bc 1f6cb 1f6cd-1f6cf 1f6e0-1f6e5 1f6e9 1f6f0 1f6f3"
)

#: Where emoji stand: after those that are nothing else, editors write the selector all the same.
EMOJI_BLOCKS: Final = _characters("2600-27bf 2b00-2bff 1f000-1faff")

IDEOGRAPHS: Final = _characters("3400-4dbf 4e00-9fff f900-faff 20000-2fa1f 30000-323af")


def _compatibility() -> dict[str, str]:
    """Give the ideographs with which a selector makes one that is there for compatibility.

    Of several, the first is made by the first selector. The interpreter knows them all: the last
    came with Unicode 6.1.
    """
    seen: Counter[str] = Counter()
    found = {"\ufe00": "", "\ufe01": "", "\ufe02": ""}
    for code in (*range(0xF900, 0xFB00), *range(0x2F800, 0x2FA20)):
        base = unicodedata.normalize("NFD", chr(code))
        if base != chr(code):
            found[chr(0xFE00 + seen[base])] += base
            seen[base] += 1
    return found


_COMPATIBILITY: Final = _compatibility()
#: Which selectors there are for which characters: StandardizedVariants.txt 15.0, but for what is in
#: ASCII or Egyptian.
STANDARD: Final = {
    "\u180b": _characters(
        "1820-1826 1828 182a 182c 182d 1830 1832 1833 1835 1836 1838 1844-1849 184d 184e 185d "
        "185e 1860 1863 1868 1869 186f 1873 1874 1876 1880 1881 1887 1888 188a"
    ),
    "\u180c": _characters("1820 1825 1826 1828 182c 182d 1830 1836 1847 185e 1868 1873 1874 1887"),
    "\u180d": _characters("1828 182c 182d 1873 1874 1887"),
    "\ufe00": _characters(
        "1000 1002 1004 1010 1011 1015 1019 101a 101c 101d 1022 1031 1075 1078 107a 1080 210b "
        "2110 2112 211b 212c 2130 2131 2133 2205 2229 222a 2268 2269 2272 2273 228a 228b "
        "2293-2295 2297 229c 22da 22db 2a3c 2a3d 2a9d 2a9e 2aac 2aad 2acb 2acc 3001 3002 a856 "
        "a85c a85e-a860 a868 aa60-aa66 aa6b aa6c aa6f aa7a ff01 ff0c ff0e ff10 ff1a ff1b ff1f "
        "10ac5 10ac6 10ad6 10ad7 10ae1 1d49c 1d49e 1d49f 1d4a2 1d4a5 1d4a6 1d4a9-1d4ac "
        "1d4ae-1d4b5"
    )
    + _COMPATIBILITY["\ufe00"],
    "\ufe01": _characters(
        "210b 2110 2112 211b 212c 2130 2131 2133 3001 3002 ff01 ff0c ff0e ff1a ff1b ff1f 1d49c "
        "1d49e 1d49f 1d4a2 1d4a5 1d4a6 1d4a9-1d4ac 1d4ae-1d4b5"
    )
    + _COMPATIBILITY["\ufe01"],
    "\ufe02": _COMPATIBILITY["\ufe02"],
}
