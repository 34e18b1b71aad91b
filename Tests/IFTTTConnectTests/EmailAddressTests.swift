import IFTTTConnect
import Testing

@Suite("Addresses of electronic mail")
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
}
