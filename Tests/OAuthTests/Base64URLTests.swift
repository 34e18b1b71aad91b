import Testing

@testable import OAuth

@Suite("Base64URL")
struct Base64URLTests {
    @Test("B8: a character outside of the alphabet, or with bits too many, is no Base64URL at any place")
    func alphabet() {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var wrong: [[UInt8]] = []
        for (count, byte) in (1...20).flatMap({ count in (UInt8.min...UInt8.max).map { (count, $0) } }) {
            for place in 0..<count {
                var text = [UInt8](repeating: UInt8(ascii: "A"), count: count)
                text[place] = byte
                let bits = alphabet.firstIndex(of: byte)
                let strayBits = [0, 0, 0x0F, 0x03][place == count - 1 ? count % 4 : 0]
                let decoded = Base64URL.decode(text[...])
                let isEncoding = count % 4 != 1 && bits.map { $0 & strayBits == 0 } ?? false
                if decoded.map({ Array(Base64URL.encode($0).utf8) }) != (isEncoding ? text : nil) { wrong.append(text) }
            }
        }
        #expect(wrong.isEmpty)
    }
}
