import Testing

@testable import OAuth

@Suite("Bytes that are looked at eight together")
struct EightBytesTests {
    @Test("the first byte of a kind is found at each place, whatever stands around it")
    func places() {
        for (count, filler) in (0...17).flatMap({ count in [0x00, 0x23, 0xA2, 0xFF].map { (count, $0) } }) {
            var text = [UInt8](repeating: UInt8(filler), count: count)
            #expect(first(of: text, from: 0) { $0.flags(of: 0x22) } == count)
            for place in text.indices {
                text[place] = 0x22
                for start in 0...count {
                    let expected = start <= place ? place : count
                    #expect(first(of: text, from: start) { $0.flags(of: 0x22) } == expected)
                }
                text[place] = UInt8(filler)
            }
        }
    }

    @Test("each byte is of its kind at each place")
    func kinds() {
        for (place, byte) in (0..<17).flatMap({ place in (UInt8.min...UInt8.max).map { (place, $0) } }) {
            var text = [UInt8](repeating: UInt8(ascii: "a"), count: 17)
            text[place] = byte
            #expect(first(of: text, from: 0) { $0.flags(below: 0x20) } == (byte < 0x20 ? place : 17))
            #expect(first(of: text, from: 0) { $0.flagsOutsideASCII } == (byte >= 0x80 ? place : 17))
        }
    }

    private func first(of text: [UInt8], from start: Int, _ flags: (UInt64) -> UInt64) -> Int {
        let slice = text[...]
        return slice.span.firstIndex(from: start, flags)
    }

    @Test("B8: control characters, quotation marks and what is no UTF-8 are refused at each place of a string")
    func strings() {
        let bytes = [UInt8](0..<0x20) + [0x22, 0x80, 0xFF]
        for (count, byte) in (1...18).flatMap({ count in bytes.map { (count, $0) } }) {
            for place in 0..<count {
                var text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                text[place] = byte
                #expect(throws: JSONValue.SyntaxError.self) { try JSONValue(parsing: [0x22] + text + [0x22]) }
            }
        }
    }

    @Test("B8: a character that an address cannot have is refused at each of its places")
    func addresses() throws {
        let address = "https://server.example.com/a/path?and=query"
        _ = try EndpointURL(address)
        for place in address.indices {
            for character: Character in ["\0", "\t", " ", "\\", "#", "\u{7F}", "\u{80}", "é", "ſ"] {
                var changed = address
                changed.insert(character, at: place)
                #expect(throws: OAuthError.self) { try EndpointURL(changed) }
            }
        }
    }

    @Test("B8: a text of other than three parts is none, wherever its dots stand")
    func parts() throws {
        for (count, length) in (1...7).flatMap({ count in (0...17).map { (count, $0) } }) {
            let part = String(repeating: "A", count: length)
            let text = Array(repeating: part, count: count).joined(separator: ".")
            do {
                _ = try JSONWebSignature(compact: Secret(text))
                Issue.record("it was read")
            } catch .refused(let refusal) {
                #expect((refusal.check == .encrypted) == (count == 5))
                #expect(refusal.expected.hasPrefix("header: ") == (count == 3))
            } catch { throw error }
        }
    }
}
