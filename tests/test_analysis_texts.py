"""What texts share, and the words that tell groups of texts apart."""

from __future__ import annotations

from lancebrain.analysis.texts import keywords, shared_share

LONG = "the nightly backup copies the database to the second site and checks the copy"


def test_the_same_text_is_shared_whole_and_another_not_at_all() -> None:
    assert shared_share(LONG, LONG) == 1
    assert shared_share(LONG, "flour water salt and time make bread") == 0
    assert shared_share("", "") == 1
    assert shared_share("", LONG) == 0


def test_a_changed_word_costs_the_parts_around_it() -> None:
    assert 0.4 < shared_share(LONG, LONG.replace("second", "third")) < 1
    assert 0.4 < shared_share("在庫の同期は夜に行う。" * 3, "在庫の同期は朝に行う。" * 3) < 1


def test_capitals_and_white_space_make_no_difference() -> None:
    assert shared_share(LONG, LONG.upper().replace(" ", "\n")) == 1


def test_words_of_a_group_are_those_that_the_others_lack() -> None:
    bikes = [f"the chain of bike {n} needs oil and the brakes need air" for n in range(6)]
    bread = [f"bread number {n} needs flour, water and the oven" for n in range(6)]
    of_bikes, of_bread = keywords([bikes, bread])
    assert {"chain", "bike", "oil"} <= set(of_bikes)
    assert {"bread", "flour", "oven"} <= set(of_bread)
    assert not {"the", "and", "needs"} & {*of_bikes, *of_bread}


def test_chinese_and_japanese_words_are_found_without_spaces() -> None:
    stock = ["仓库的库存系统每天同步", "库存系统出了问题", "我们换了库存系统", "新的库存系统很慢"]
    cats = ["うちの猫がトイレに行けない", "猫のトイレを洗う", "猫はトイレで鳴く", "トイレの砂"]
    of_stock, of_cats = keywords([stock, cats])
    assert of_stock[0] == "库存系统"
    assert of_cats[0] == "トイレ"


def test_frontmatter_code_and_links_are_no_words() -> None:
    text = (
        "---\ntags: [alpha]\n---\nsee [page](https://example.com/beta)\n"
        "```\ngamma = 1\n```\nword word"
    )
    assert sorted(keywords([[text] * 4, ["other"] * 4])[0]) == ["page", "see", "word"]


def test_a_group_alone_is_told_by_its_most_frequent_words() -> None:
    assert keywords([["rye bread", "rye flour", "rye"]]) == [["rye", "bread", "flour"]]
