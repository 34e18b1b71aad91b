/// A type of another module with a name that `Handshake` uses too.
public struct Client {
    public let company: String

    public init(company: String) {
        self.company = company
    }
}
