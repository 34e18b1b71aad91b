import Handshake
import OAuth
import RecurseCenter
import Sequencing
import Testing

/// An app whose own types have names of the package's. Modules with a type of their own name are the difficult case: there,
/// `Handshake.Client` would be a member of the type `Handshake`.
private enum App {
    struct Client {
        let company: String

        func registration() -> Handshake::Client {
            Handshake::Client(service: .recurseCenter, id: "\(company)-app")
        }
    }

    struct Profile {
        let name: String

        init(_ profile: RecurseCenter::Profile) { name = profile.name }
    }

    struct FileID {
        let id: Sequencing::FileID
    }
}

@Suite("A module whose type has its name")
struct ModuleNameTests {
    @Test("is named by a module selector (SE-0491)")
    func selector() throws {
        #expect(App.Client(company: "example").registration().id == "example-app")
        let id = try #require(FileID("910001"))
        #expect(App.FileID(id: id).id == id)
    }
}
