import Handshake
import OAuth
import Sandbox
import Sequencing

/// The weather, by your genes: sign in, choose a file, ask two chains in one request, and read the advice (dossier 5.8).
///
/// `swift run WeatherMyWay [CONDITION] [ALERT]` runs against a sandbox that lives as long as the program; nothing leaves the machine.
/// An app differs in two lines: its own client identifier, and ``Service/sequencing`` instead of the sandbox's address.
@main
struct WeatherMyWay {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let sandbox = try await Sandbox.start()
        do {
            try await report(sandbox, condition: arguments.first ?? "Sunny", alert: arguments.dropFirst().first)
            await sandbox.stop()
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    private static func report(_ sandbox: Sandbox, condition: String, alert: String?) async throws {
        let genome = Sequencing(try await signIn(sandbox))
        for file in try await genome.files(.sample) {
            let advice = try await advice(for: file, from: genome, condition: condition, alert: alert)
            print("\(file.displayName): \(advice)")
        }
    }

    /// Step 1: the app's registration, and the user's consent.
    private static func signIn(_ sandbox: Sandbox) async throws -> Account {
        let origin = sandbox.sequencing.origin
        guard let service = try Service.builtIn("sequencing", at: origin, security: .allowingInsecureLoopback),
            let client = sandbox.sequencing.clients.first(where: { $0.kind == .public })
        else { throw HandshakeError.configuration(member: "client", problem: "the sandbox has no public client") }
        let handshake = try Handshake(Client(service: service, id: client.id), vault: MemoryVault())
        return try await handshake.signIn(through: SandboxBrowser(sandbox: sandbox))
    }

    /// Steps 2 and 3: the chains, and what to do with each answer.
    static func advice(
        for file: GeneticFile, from genome: Sequencing, condition: String, alert: String? = nil
    ) async throws -> String {
        let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file.id)
        let table = try AdviceTable.builtIn()
        do throws(SequencingError) {
            let advice = table.advice(
                risk: try risk.get(), vitaminD: try vitaminD.get(), condition: condition, alert: alert)
            return switch advice {
            case .sentence(let sentence): sentence
            case .fileLacksData: "This file lacks the data that the advice needs. Choose another file."
            case .unknownWeather: "There is no advice for this weather."
            }
        } catch {
            return "There is no advice: \(error)"
        }
    }
}

/// The sandbox's own user: consents without a browser.
private struct SandboxBrowser: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}
