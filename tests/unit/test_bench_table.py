from bench.table import Row, markdown


class TestRow:
    def test_holds_up_to_its_bar(self):
        assert Row("tick", 15, "ms", bar=15).holds
        assert not Row("tick", 15.1, "ms", bar=15).holds

    def test_holds_from_its_bar_on_where_more_is_better(self):
        assert Row("fires", 1000, "/s", bar=1000, least=True).holds
        assert not Row("fires", 999, "/s", bar=1000, least=True).holds

    def test_without_a_bar_holds_nothing_and_misses_nothing(self):
        assert Row("tick", 15, "ms").holds is None


class TestMarkdown:
    def test_is_a_table_that_says_what_was_missed(self):
        lines = markdown(
            [Row("idle", 7.25, "ms", bar=15, floor=2), Row("due", 1234, "ms", bar=1000)]
        ).splitlines()
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        assert cells[2] == ["idle", "7.25 ms", "≤ 15 ms", "holds", "2 ms", "3.6", ""]
        assert cells[3] == ["due", "1,234 ms", "≤ 1,000 ms", "MISSED", "", "", ""]
        assert len({len(line) for line in lines}) == 1, "the columns line up"
