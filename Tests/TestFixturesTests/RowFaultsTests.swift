import TestFixtures
import Testing

@Suite("A table of rows")
struct RowFaultsTests {
    @Test("a row that names no test, or what does not exist, is a fault")
    func faults() {
        let table = """
            | row | shown by |
            |---|---|
            | A1 | KnownTests “a test” and `test_it` |
            | A2 | elsewhere: another module |
            | A3 | “no such test”, elsewhere: FictitiousTests |
            | A4 | `KnownTests`, `test_absent` |
            | A5 | `Tests/no-such-file` |
            | A6 | elsewhere: `KnownTests` |
            | A7 | “a test”, “a "quoted" one”; OtherTests “another” |
            | A8 | OtherTests “a test”; KnownTests “another” |
            | A9 | “another” |
            | A10 | KnownTests “a”, “words of a comment”, “a test that is a comment”, “Known tests”; `test_in_words` |
            """
        let known = #"""
            /// words of a comment
            @Suite("Known tests") struct KnownTests { @Test("a test") func one() {}
            // @Test("a test that is a comment")
            @Test(
                "a \"quoted\" one") func two() {}
            """#
        let sources = [
            (path: "Known/A.swift", text: known),
            (path: "Other/B.swift", text: "final class OtherTests { @Test(\"another\")"),
            (path: "b.py", text: "def test_it():\n    pass  # def test_in_words("),
        ]
        #expect(
            TestSources.faults(ofRowsIn: table, in: "Known", sources: sources) == [
                "A2: names no test", "A3: there is no test “no such test”", "A3: there is no FictitiousTests",
                "A4: there is no test_absent", "A5: there is no file Tests/no-such-file",
                "A6: names no test", "A8: the test “a test” is not in OtherTests",
                "A8: the test “another” is not in KnownTests", "A9: the test “another” is not in Known",
                "A10: there is no test “a”", "A10: there is no test “words of a comment”",
                "A10: there is no test “a test that is a comment”", "A10: there is no test “Known tests”",
                "A10: there is no test_in_words",
            ])
    }
}
