#if Sandbox
import SandboxCore
import Synchronization

/// Registering an account and resetting a password (Sequencing dossier, section 2).
///
/// | address | register | reset |
/// |---|---|---|
/// | of a person of the sandbox | 101 | status 0 |
/// | registered before in this sandbox | 101 | status 0 |
/// | any other | status 0 | 103 |
/// | not an address | 102, its message an object | the same |
///
/// The member `client_id` carries the secret of a client that has one, or the id of a public client (W12); anything
/// else is 104. Nothing is mailed.
///
/// A class, since what is registered stays so.
final class AccountRoutes: Sendable {
    static let registerPath = "sequencing/public/webservice/user/seq_register.json"
    static let resetPath = "sequencing/public/webservice/user/seq_new_pass.json"

    private let dialect: Dialect
    private let registered: Mutex<Set<String>>

    init(dialect: Dialect) {
        self.dialect = dialect
        registered = Mutex(Set(dialect.users.map { $0.name.lowercased() }))
    }

    func register(_ request: IncomingRequest) -> Answer {
        answer(request) { address in
            isNew(address) ? nil : Problem(number: 101, message: "That address is already registered.")
        }
    }

    func resetPassword(_ request: IncomingRequest) -> Answer {
        answer(request) { address in
            registered.withLock { $0.contains(address) }
                ? nil : Problem(number: 103, message: "There is no account with that address.")
        }
    }

    /// Registers an address if it is not yet; the answer says whether it was new.
    func isNew(_ address: String) -> Bool {
        registered.withLock { $0.insert(address.lowercased()).inserted }
    }

    private struct Problem {
        let number: Int
        let message: JSON
    }

    /// What the account pages say: nil when a mail would be sent, otherwise why not.
    func complaint(registering: Bool, _ address: String) -> String? {
        guard EmailSyntax.isPlausible(address) else { return "Not an email address." }
        let address = address.lowercased()
        if registering { return isNew(address) ? nil : "That address is already registered." }
        return registered.withLock { $0.contains(address) } ? nil : "There is no account with that address."
    }

    private func answer(_ request: IncomingRequest, _ act: (String) -> Problem?) -> Answer {
        do throws(APIRefusal) {
            let body = try Access.object(request)
            guard let problem = problem(body, act) else { return .json(["status": 0]) }
            return .json(
                ["status": 1, "errorCode": .number(problem.number), "errorMessage": problem.message])
        } catch {
            return error.answer
        }
    }

    private func problem(_ body: JSON, _ act: (String) -> Problem?) -> Problem? {
        guard let client = body["client_id"]?.scalarText,
            dialect.clients.contains(where: { ($0.secret ?? $0.id) == client })
        else {
            return Problem(number: 104, message: "The app is not known here.")
        }
        guard let address = body["email"]?.scalarText, EmailSyntax.isPlausible(address) else {
            return Problem(number: 102, message: ["email": "Not an email address."])
        }
        return act(address.lowercased())
    }
}
#endif
