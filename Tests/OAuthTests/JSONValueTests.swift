import Testing

@testable import OAuth

@Suite("JSON")
struct JSONValueTests {
    @Test("the object of RFC 8259, section 13 is read")
    func object() throws {
        let text =
            #"{"Image":{"Width":800,"Title":"View from 15th Floor","Animated":false,"IDs":[116,943],"Latitude":37.7668}}"#
        let image = try JSONValue(parsing: Array(text.utf8)).object?["Image"]?.object
        #expect(image?["Width"]?.integer == 800)
        #expect(image?["Title"]?.string == "View from 15th Floor")
        #expect(image?["Animated"]?.bool == false)
        #expect(image?["IDs"]?.array?.compactMap(\.integer) == [116, 943])
        #expect(image?["Latitude"] == .number("37.7668"))
    }

    @Test(
        "escapes are decoded, also the G clef of RFC 8259, section 7",
        arguments: [
            (#""\uD834\uDD1E""#, "\u{1D11E}"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9""#, "é"),
        ])
    func escapes(text: String, string: String) throws {
        #expect(try JSONValue(parsing: Array(text.utf8)).string == string)
    }

    @Test(
        "a text that two readers could read differently is refused",
        arguments: [
            #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "{} {}", "{}x", "\u{FEFF}{}",
            #"{"a":1,}"#,
            "[1,]", "{'a':1}", "{a:1}", "01", "1.", ".5", "+1", "-", "1e", "NaN", "Infinity", "0x1", #""\x""#,
            #""\uD800""#,
            #""\uD800\u0041""#, #""\uDC00""#, #""\u+041""#, "\"a\nb\"", "\"a", "[", "{", #"{"a""#, "tru", "", " ",
        ])
    func refused(text: String) {
        #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test(
        "bytes that are not UTF-8 are refused",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: bytes) }
    }

    @Test("depth is bounded, so that a text cannot exhaust the stack")
    func depth() throws {
        _ = try JSONValue(parsing: Array((String(repeating: "[", count: 32) + String(repeating: "]", count: 32)).utf8))
        #expect(throws: JSONValue.SyntaxError.self) {
            try JSONValue(parsing: Array(String(repeating: "[", count: 100_000).utf8))
        }
    }

    @Test(
        "a whole number counts in every spelling, and no other number does",
        arguments: [
            ("3600", 3600), ("3600.0", 3600), ("36e2", 3600), ("-1", -1), ("9223372036854775807", Int64.max),
        ] as [(String, Int64)])
    func integers(spelling: String, value: Int64) {
        #expect(JSONValue.number(spelling).integer == value)
    }

    @Test(
        "a number that is not whole or too large is none", arguments: ["0.5", "1e400", "1e17", "9223372036854775808"])
    func notIntegers(spelling: String) {
        #expect(JSONValue.number(spelling).integer == nil)
    }

    @Test("names are compared by their bytes: two spellings that Unicode calls equivalent are two names")
    func names() throws {
        let value = try JSONValue(parsing: Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8))
        let object = try #require(value.object)
        #expect(object.count == 2)
        #expect(object["\u{E9}"]?.integer == 1)
        #expect(object["e\u{301}"]?.integer == 2)
        #expect(object.keys == ["e\u{301}", "\u{E9}"])
        // So many that they are found by their hashes, which collide.
        let pairs = (0..<200).map { "\"\u{E9}\($0)\":1,\"e\u{301}\($0)\":2" }
        let many = try #require(try JSONValue(parsing: Array("{\(pairs.joined(separator: ","))}".utf8)).object)
        #expect(many.count == 400)
        #expect((0..<200).allSatisfy { many["\u{E9}\($0)"]?.integer == 1 && many["e\u{301}\($0)"]?.integer == 2 })
    }

    @Test("B8: names are hashed by their bytes: two spellings that Unicode calls equivalent have two hashes")
    func hashes() {
        // Swift's own hash of a text normalizes it first, which takes quadratic time for a long run of marks.
        let (one, two, same): (JSONObject, JSONObject, JSONObject) = (
            ["\u{E9}": .null], ["e\u{301}": .null], ["\u{E9}": .null]
        )
        #expect(one.hashValue == same.hashValue)
        #expect(one.hashValue != two.hashValue)
    }

    @Test("a name has at most 1024 bytes, a number at most 256")
    func bounds() throws {
        func isRead(_ text: String) -> Bool { (try? JSONValue(parsing: Array(text.utf8))) != nil }
        #expect(isRead("{\"\(String(repeating: "n", count: 1024))\":1}"))
        #expect(!isRead("{\"\(String(repeating: "n", count: 1025))\":1}"))
        #expect(isRead(String(repeating: "1", count: 256)))
        #expect(!isRead(String(repeating: "1", count: 257)))
    }

    @Test(
        "after 30 combining marks in a row U+034F is inserted, as Unicode Standard Annex #15, section 13 says",
        arguments: [0, 29, 30, 31, 60, 61, 300])
    func marks(count: Int) throws {
        let text = "a" + String(repeating: "\u{301}", count: count) + "b"
        let read = try #require(try JSONValue(parsing: Array("\"\(text)\"".utf8)).string)
        let runs = read.unicodeScalars.split { $0 != "\u{301}" }.map(\.count)
        #expect(runs.allSatisfy { $0 <= 30 })
        #expect(runs.reduce(0, +) == count)
        #expect(read.unicodeScalars.filter { $0 != "\u{34F}" }.elementsEqual(text.unicodeScalars))
    }

    @Test("a repeated name is rejected without quoting it, because a secret may be the name")
    func repeatedName() throws {
        let error = #expect(throws: JSONValue.SyntaxError.self) {
            try JSONValue(parsing: Array(#"{"secret":1,"secret":2}"#.utf8))
        }
        #expect(try #require(error).problem == "a member name occurs twice")
    }

    @Test("writing and reading again gives an equal value")
    func roundTrip() throws {
        let text = #"{"a":[1,2.50,-3e7,"\u0000\u001f\"\\\/é𝄞",true,false,null,{}],"b":{"c":[]}}"#
        let value = try JSONValue(parsing: Array(text.utf8))
        #expect(try JSONValue(parsing: Array(value.json.utf8)) == value)
    }

    @Test("an object finds, replaces and removes its members however many there are", arguments: [1, 32, 33, 40])
    func members(count: Int) throws {
        let names = (0..<count).map { "name \($0)" }
        let text = "{" + names.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ",") + "}"
        var object = try #require(try JSONValue(parsing: Array(text.utf8)).object)
        #expect(object.count == count && object.keys == names.sorted())
        for name in names { #expect(object[name] == .string(name)) }
        #expect(object["name"] == nil)
        let others = object.filter { $0.key != "name 0" }
        for name in names { #expect(others[name] == (name == "name 0" ? nil : .string(name))) }

        let reversed = JSONObject(names.reversed().map { (key: $0, value: .string($0)) })
        #expect(reversed == object && reversed.hashValue == object.hashValue)
        object["name 0"] = .null
        #expect(object != reversed && object.count == count && object["name 0"] == .null)
        for name in names {
            object[name] = nil
            #expect(object[name] == nil)
        }
        #expect(object.isEmpty && object == JSONObject())
        object["again"] = .null
        #expect(object.keys == ["again"])
    }

    @Test("names that begin alike, end with NUL or differ in length alone are different names", arguments: [0, 32])
    func similarNames(more: Int) {
        let long = String(repeating: "x", count: 255)
        let names = [
            "", "\0", "\0\0", "a", "a\0", "abcdefg", "abcdefg\0", "abcdefgh", "abcdefgi", long, long + "x", long + "y",
        ]
        var object = JSONObject()
        for (number, name) in names.enumerated() {
            #expect(object[name] == nil)
            object[name] = .number("\(number)")
        }
        for number in 0..<more { object["more \(number)"] = .null }
        #expect(object.count == names.count + more)
        for (number, name) in names.enumerated() { #expect(object[name] == .number("\(number)")) }
    }

    @Test("a name that occurs twice is refused however many members there are", arguments: [1, 32, 33, 40])
    func repeatedName(count: Int) {
        let names = (0..<count).map { "name \($0)" }
        for name in [names[0], names[count - 1]] {
            let text = "{" + (names + [name]).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
            #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: Array(text.utf8)) }
        }
    }
}
