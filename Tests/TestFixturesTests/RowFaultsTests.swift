import TestFixtures
import Testing

@Suite("A table of rows")
struct RowFaultsTests {
    @Test("a row that names no test, or what does not exist, is a fault")
    func faults() {
        let table = """
            | row | shown by |
            |---|---|
            | A1 | “a test” and `test_it` |
            | A2 | elsewhere: another module |
            | A3 | “no such test”, elsewhere: FictitiousTests |
            | A4 | `KnownTests`, `test_absent` |
            | A5 | `Tests/no-such-file` |
            | A6 | elsewhere: `KnownTests` |
            """
        let sources = [
            (path: "A.swift", text: "struct KnownTests { @Test(\"a test\")"), (path: "b.py", text: "def test_it():"),
        ]
        #expect(
            TestSources.faults(ofRowsIn: table, sources: sources) == [
                "A2: names no test", "A3: there is no test “no such test”", "A3: there is no FictitiousTests",
                "A4: there is no test_absent", "A5: there is no file Tests/no-such-file",
                "A6: names no test",
            ])
    }
}
