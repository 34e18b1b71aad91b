import Handshake
import OAuth

/// This app's own type, whose name `Handshake` uses too. In this module `Client` is this one.
struct Client {
    let company: String

    /// The app's registration: a type of the module `Handshake`, in which a class of the same name lives. The module selector
    /// (SE-0491, Swift 6.3) names the module; `Handshake.Client` would be a member of the class.
    func registration() throws -> Handshake::Client {
        Handshake::Client(
            service: .recurseCenter, id: "\(company)-app", redirect: .uri(try RedirectURI("org.example.app:/callback")))
    }
}
