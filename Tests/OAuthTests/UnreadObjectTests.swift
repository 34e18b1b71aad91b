import Testing

@testable import OAuth

@Suite("Objects that are read member by member")
struct UnreadObjectTests {
    @Test(
        "each member has the value that the whole object has, whatever stands inside of values",
        arguments: [
            #"{"a":1}"#, #"{"a":"}","b":",","c":"\"},\"","d":"\\"}"#,
            #"{"a":{"b":{"c":[1,{"a":2}]}},"b":[{"a":"]"}],"c":[]}"#,
            #"{"a":"{","aa":"[","b":null,"bb":true,"c":-1.5e3,"d":"\u00e9é"}"#, #"{"":"empty","b":""}"#,
            #"{"abcdefgh":1,"abcdefgi":2}"#,
        ])
    func members(_ text: String) throws {
        let bytes = Array(text.utf8)
        let whole = try #require(JSONValue(parsing: bytes).object)
        let unread = try #require(UnreadObject(bytes))
        #expect(unread.all == whole)
        for (name, value) in whole { #expect(unread[name] == value, "\(name)") }
        for name in ["", "a", "b", "c", "d", "e", "aa", "abcdefgj"] where whole[name] == nil {
            #expect(unread[name] == nil)
        }
    }

    @Test(
        "what is no object of that form is none",
        arguments: [
            "", "{", "{}", "[1]", #"{"a"}"#, #"{"a":"#, #"{"a":1"#, #"{"a":1,}"#, #"{"a":1}}"#, #"{"a":1]"#,
            #"{ "a":1}"#, #"{"a":1} "#, #"{"a":"b}"#, #"{"a":[1}"#, #"{a:1}"#, #"{"a"#, #"{"a":"\"#,
        ])
    func otherTexts(_ text: String) {
        #expect(UnreadObject(Array(text.utf8)) == nil)
    }

    @Test("a value that is none is absent when it is asked for, and the others are there")
    func wrongValue() throws {
        let unread = try #require(UnreadObject(Array(#"{"a":nonsense,"b":"good"}"#.utf8)))
        #expect(unread["a"] == nil)
        #expect(unread["b"] == .string("good"))
        #expect(unread.all.isEmpty)
    }
}
