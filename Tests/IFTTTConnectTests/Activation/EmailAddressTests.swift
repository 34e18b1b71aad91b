import IFTTTConnect
import Testing

@Suite("Email addresses")
struct EmailAddressTests {
    @Test(
        "3.3: one whole address is accepted, with white space around it or not",
        arguments: [
            "ada@example.com", "ada+one.two_three@example.com", " ada@example.com\n", "jörg@bücher.example",
            "a@b.co", "ada@mail.example.co.uk",
        ])
    func accepted(_ text: String) {
        #expect(EmailAddress(rawValue: text) != nil)
    }

    @Test(
        "3.3: everything else is refused: nothing, sentences, an address inside other text, two addresses",
        arguments: [
            "", " ", "water the garden", "write to ada@example.com", "ada@example.com today",
            "ada@example.com, grace@example.com", "ada@example.com grace@example.com", "ada@", "@example.com",
            "ada@example", "ada@@example.com", "ada@example..com", ".ada@example.com", "ada.@example.com",
            "ada@-example.com", "ada@example.c_m", "ada@1.2.3.4", "mailto:ada@example.com", "<ada@example.com>",
            "ada@example.com\u{0}", "ada\u{202E}@example.com", "a b@example.com",
            String(repeating: "x", count: 65) + "@example.com", "a@" + String(repeating: "x.", count: 500) + "com",
        ])
    func refused(_ text: String) {
        #expect(EmailAddress(rawValue: text) == nil)
    }

    @Test("W26: the white space is gone")
    func trimmed() {
        #expect(EmailAddress(rawValue: "\t ada@example.com \n")?.rawValue == "ada@example.com")
    }
}
