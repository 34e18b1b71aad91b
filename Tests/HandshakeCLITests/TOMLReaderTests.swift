import OAuth
import TestFixtures
import Testing

@testable import HandshakeCLI

/// Documents of the specification (https://toml.io/en/v1.0.0) and of its test suite, and what ends other parsers.
@Suite("TOML")
struct TOMLReaderTests {
    private func json(_ text: String) throws -> String {
        JSONValue.object(try TOMLReader.members(of: Array(text.utf8))).json
    }

    @Test(
        "a document is read as the specification has it",
        arguments: [
            ("", "{}"), ("# nothing\n\n \t\r\n", "{}"), ("\u{FEFF}a = 1", #"{"a":1}"#), ("a=1#b", #"{"a":1}"#),
            ("bare_-1 = 1\n1234 = 2", #"{"1234":2,"bare_-1":1}"#), (#""" = 1"#, #"{"":1}"#),
            (#"'a "b"' = 1"#, #"{"a \"b\"":1}"#), ("a . 'b.c' . \"d\" = 1", #"{"a":{"b.c":{"d":1}}}"#),
            ("3.14 = 1", #"{"3":{"14":1}}"#), ("a.b = 1\na.c = 2", #"{"a":{"b":1,"c":2}}"#),
            ("b.c.d = 1\na = 2\nb.e = 3", #"{"a":2,"b":{"c":{"d":1},"e":3}}"#),
            (#"a = "\b\t\n\f\r\"\\\u00e9\U0001F469""#, #"{"a":"\b\t\n\f\r\"\\é👩"}"#),
            (#"a = 'C:\n'"#, #"{"a":"C:\\n"}"#), ("a = \"\"", #"{"a":""}"#), ("a = ''", #"{"a":""}"#),
            ("a = \"\"\"\"\"\"", #"{"a":""}"#), ("a = \"\"\"\nRoses\nare\"\"\"", #"{"a":"Roses\nare"}"#),
            ("a = \"\"\"\r\nx\\  \r\n \t y\"\"\"", #"{"a":"xy"}"#),
            ("a = \"\"\"\"\"x\"\"\"\"\"", #"{"a":"\"\"x\"\""}"#),
            ("a = '''\n\\['''''", #"{"a":"\\[''"}"#), ("a = \"\"\"x\\\\\"\"\"", #"{"a":"x\\"}"#),
            (
                "a = +99\nb = -0\nc = 1_000\nd = 0xdead_BEEF\ne = 0o755\nf = 0b11",
                #"{"a":99,"b":0,"c":1000,"d":3735928559,"e":493,"f":3}"#
            ),
            (
                "a = 9223372036854775807\nb = -9223372036854775808",
                #"{"a":9223372036854775807,"b":-9223372036854775808}"#
            ),
            (
                "a = +1.0\nb = -0.01\nc = 5e+22\nd = 1e06\ne = 6.626_1E-34",
                #"{"a":1.0,"b":-0.01,"c":5e+22,"d":1e06,"e":6.6261e-34}"#
            ),
            ("a = true\nb = false", #"{"a":true,"b":false}"#), ("a = []", #"{"a":[]}"#),
            ("a = [ 1, # one\n\n 'x', [2], {b=3} ,\n]", #"{"a":[1,"x",[2],{"b":3}]}"#),
            ("a = { }\nb = { c.d = 1, 'e' = [\n] }", #"{"a":{},"b":{"c":{"d":1},"e":[]}}"#),
            ("[a]\n[b]\nc=1\n[ d . \"e\" ]\nf=2", #"{"a":{},"b":{"c":1},"d":{"e":{"f":2}}}"#),
            ("[x.y.z.w]\n[x]\na=1", #"{"x":{"a":1,"y":{"z":{"w":{}}}}}"#),
            (
                "[fruit]\napple.color=1\n[fruit.apple.taste]\nsweet=true",
                #"{"fruit":{"apple":{"color":1,"taste":{"sweet":true}}}}"#
            ),
            ("[[a]]\nb=1\n[[a]]\n[a.c]\nd=2\n[[a.e]]\n[[a.e]]", #"{"a":[{"b":1},{"c":{"d":2},"e":[{},{}]}]}"#),
            ("a = 'x' # [=]\n\"[=]\" = '''\n[?'''", #"{"[=]":"[?","a":"x"}"#),
        ])
    func documents(_ text: String, _ expected: String) throws {
        let wanted = try JSONValue(parsing: Array(expected.utf8))
        #expect(try JSONValue(parsing: Array(try json(text).utf8)) == wanted)
    }

    /// A key of as many parts as there may be.
    private static let dotted = Array(repeating: "b", count: TOMLReader.maximumDepth).joined(separator: ".")

    @Test("a key has as many parts as there may be tables in one another, with the brackets around it")
    func nesting() throws {
        let opened = String(repeating: #"{"b":"#, count: TOMLReader.maximumDepth)
        let closed = String(repeating: "}", count: TOMLReader.maximumDepth)
        #expect(try json("\(Self.dotted) = 1") == opened + "1" + closed)
        #expect(try json("a = {\(Self.dotted) = 1}") == #"{"a":"# + opened + "1" + closed + "}")
        #expect(throws: TOMLReader.SyntaxError.self) { try json("b.\(Self.dotted) = 1") }
    }

    @Test(
        "what is no TOML, or no setting, is told with its line",
        arguments: [
            // Three parsers of other languages end the process, or loop, at some of these.
            ("[", 1), ("[\n", 1), ("[=]", 1), ("[.a]", 1), ("[[", 1), ("[[ =]]", 1), ("[ä]", 1), ("\u{FEFF}[=]", 1),
            ("[\u{10}[a]]", 1), ("a = [}", 1), ("a = [1,,]", 1), ("a = [,]", 1), ("a = {[}", 1),
            ("a = 1979-05-27T\u{F}7:32:00Z", 1),
            ("a = \n[b]", 1), ("a", 1), ("a =", 1), ("= 1", 1), ("a b = 1", 1), ("a. = 1", 1), (".a = 1", 1),
            ("a..b = 1", 1),
            ("a = 1 b = 2", 1), ("a = 1\na = 2", 2), ("a = 1\n'a' = 2", 2), ("a.b = 1\na = 2", 2),
            ("a = 1\na.b = 2", 2),
            ("[a]\n[a]", 2), ("[a]\nb = 1\n[a.b]", 3), ("a.b = 1\n[a]", 2), ("[a.b]\n[a]\nb.c = 1", 3),
            ("[[a]]\n[a]", 2),
            ("[a]\n[[a]]", 2), ("a = []\n[[a]]", 2), ("a = {}\n[a.b]", 2), ("a = {b = 1}\na.c = 2", 2),
            ("a = [{}]\n[a.b]", 2),
            ("[a] b = 1", 1), ("[a]]", 1), ("[[a]", 1), ("[ [a]]", 1), ("[a.]", 1), ("[]", 1), ("[[]]", 1),
            ("a = {\(Self.dotted) = {\(Self.dotted) = 1}}", 1), ("a = [{\(Self.dotted) = 1}]", 1),
            ("a = {b = 1,}", 1), ("a = {\nb = 1}", 1), ("a = {b = 1 c = 2}", 1), ("a = {b = 1", 1),
            ("a = {b.c = 1, b = 2}", 1),
            ("a = [1 2]", 1), ("a = [1", 1), ("a = [\n1\n2]", 3), ("a = ]", 1), ("a = }", 1), ("a = [1]]", 1),
            (#"a = ""#, 1), (#"a = "\"#, 1), (#"a = "\x""#, 1), (#"a = "\u12""#, 1), (#"a = "\ud800""#, 1),
            (#"a = "\U00110000""#, 1), (#"a = "\u+123""#, 1),
            ("a = \"x\ny\"", 1), ("a = 'x\ny'", 1), ("a = \"\"\"x", 1), ("\na = '''\n\nx", 4),
            ("a = \"\"\"\\ x\"\"\"", 1), ("a = \"\"\"\"\"\"\"\"\"", 1),
            ("a = \"\u{1B}\"", 1), ("a = 'x\u{7F}'", 1), ("a = \"\u{0}\"", 1), ("# \u{1}", 1),
            ("a = \"\"\"x\ry\"\"\"", 1), ("a = 1\r", 1), ("\"\"\"a\"\"\" = 1", 1),
            ("a = 01", 1), ("a = 1_", 1), ("a = _1", 1), ("a = 1__0", 1), ("a = +0x1", 1), ("a = 0x", 1),
            ("a = 0xG", 1), ("a = 0o8", 1), ("a = 0b2", 1), ("a = 0X1", 1),
            ("a = 1.", 1), ("a = .1", 1), ("a = 1.e5", 1), ("a = 1e", 1), ("a = 1e1_", 1), ("a = 00.1", 1),
            ("a = 9223372036854775808", 1),
            ("a = inf", 1), ("a = -nan", 1), ("a = True", 1), ("a = truely", 1), ("a = 1979-05-27", 1),
            ("a = 07:32:00", 1), ("a = x", 1), ("a = ١", 1),
        ])
    func faults(_ text: String, _ line: Int) throws {
        let error = try #require(
            #expect(throws: TOMLReader.SyntaxError.self) { try TOMLReader.members(of: Array(text.utf8)) })
        #expect(error.line == line, "\(error)")
    }

    /// Texts that cost much to read where the time is not linear, or the depth not bounded.
    private static let expensive = [
        String(repeating: "[", count: 260_000), "a = " + String(repeating: "[", count: 260_000),
        "a = " + String(repeating: "{b=", count: 80_000), String(repeating: "a.", count: 120_000) + "b = 1",
        String(repeating: "[[a]]\n", count: 40_000), String(repeating: "[a.b]\n", count: 40_000),
        "a = [" + String(repeating: "0,", count: 130_000) + "]", String(repeating: "\n", count: 260_000) + "[=]",
        "\"" + String(repeating: "\u{301}\u{323}", count: 60_000) + "\" = 1",
        "a = \"" + String(repeating: "\u{301}\u{323}", count: 60_000) + "\"",
        "a = \"" + String(repeating: "\\u0301\\u0323", count: 20_000) + "\"",
        "a = " + String(repeating: "9", count: 260_000),
        "a = \"\"\"" + String(repeating: "\\\n", count: 130_000) + "\"\"\"",
        (0..<250).map { "[services.\"\(String(repeating: "\u{301}\u{323}", count: 250))\($0)\"]\n" }.joined(),
    ]

    // By numbers: each text would stand in the log.
    @Test("nothing costs more than linear time, or the stack", arguments: expensive.indices)
    func time(_ number: Int) {
        let bytes = Array(Self.expensive[number].utf8)
        // Quadratic time would be minutes. Under the thread sanitizer five seconds were seen.
        #expect(processorTime { _ = try? Settings.File(bytes, path: "config.toml") } < .seconds(20))
    }
}
