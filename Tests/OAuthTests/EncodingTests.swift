import Testing

@testable import OAuth

@Suite("Encodings")
struct EncodingTests {
    @Test(
        "Base64URL encodes and decodes the vectors of RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64URL(text: String, encoded: String) {
        #expect(Base64URL.encode(text.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(text.utf8))
    }

    @Test(
        "Base64 pads the vectors of RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ])
    func base64(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
    }

    @Test("Base64URL uses minus and underscore as in RFC 7515, appendix C")
    func alphabet() {
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
        #expect(Base64URL.decode("A-z_4ME") == [3, 236, 255, 224, 193])
    }

    @Test(
        "Base64URL refuses what is not the one encoding of some bytes",
        arguments: ["Zg==", "Zh", "Zm9=", "A", "A+z/", "Zm 9v", "Zm9v\n", "Zm9vé", "Zm9v\0"])
    func strictBase64URL(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test("form encoding is that of RFC 6749, appendix B")
    func form() {
        #expect(PercentEncoding.form(" %&+£€") == "+%25%26%2B%C2%A3%E2%82%AC")
        #expect(PercentEncoding.decodeForm("+%25%26%2B%C2%A3%E2%82%AC".utf8) == " %&+£€")
    }

    @Test("a query keeps the unreserved characters of RFC 3986, section 2.3 and no other")
    func query() {
        #expect(PercentEncoding.query("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.query(" +*/?&=#") == "%20%2B%2A%2F%3F%26%3D%23")
    }

    @Test(
        "B8: broken escapes, control characters and foreign encodings do not decode",
        arguments: ["%", "%4", "%4G", "%zz", "%00", "%0A", "%0d", "%7F", "%C3%28", "%FF", "%ED%A0%80", "a\nb"])
    func undecodable(text: String) {
        #expect(PercentEncoding.decodeForm(text.utf8) == nil)
    }
}
