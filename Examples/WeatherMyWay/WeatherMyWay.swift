#if Sandbox
import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing

/// Weather advice by your genes: sign in, list the files, run two app chains in one request, print the advice (dossier 5.8).
///
/// `swift run WeatherMyWay [CONDITION] [ALERT]` runs against a sandbox in the same process; no request leaves the machine. An app differs in
/// two lines: its own client identifier, and ``Service/sequencing`` instead of the sandbox's address.
///
/// `--help` lists the conditions and alerts.
@main
struct WeatherMyWay {
    static func main() async throws {
        let table = try AdviceTable.builtIn()
        let options: Options
        do {
            options = try Options(Array(CommandLine.arguments.dropFirst()), table: table)
        } catch {
            FileHandle.standardError.write(Data("WeatherMyWay: \(error.description)\n\(Options.help(table))".utf8))
            exit(64)
        }
        guard !options.showsHelp else {
            FileHandle.standardOutput.write(Data(Options.help(table).utf8))
            return
        }
        let sandbox = try await Sandbox.start()
        do {
            try await report(sandbox, condition: options.condition, alert: options.alert)
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

    /// Signs in with the sandbox's public client.
    private static func signIn(_ sandbox: Sandbox) async throws -> Account {
        let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
        guard let client = sandbox.sequencing.clients.first(where: { $0.kind == .public })
        else { throw HandshakeError.configuration(member: "client", problem: "the sandbox has no public client") }
        let handshake = try Handshake(Client(service: .sequencing.at(origin), id: client.id), vault: MemoryVault())
        return try await handshake.signIn(through: SandboxBrowser(sandbox: sandbox))
    }

    private typealias Answers = (Result<MelanomaRisk, SequencingError>, Result<VitaminD, SequencingError>)

    /// Runs both chains in one request. A request that fails is the failure of both.
    private static func answers(on file: GeneticFile, from genome: Sequencing) async throws -> Answers {
        do {
            return try await genome.answers(.melanoma, .vitaminD, on: file.id)
        } catch let error as SequencingError {
            return (.failure(error), .failure(error))
        }
    }

    /// Runs both chains on a file, and looks the advice up. A severe-weather alert is told whatever the chains answer.
    static func advice(
        for file: GeneticFile, from genome: Sequencing, condition: String, alert: String? = nil
    ) async throws -> String {
        let (risk, vitaminD) = try await answers(on: file, from: genome)
        let table = try AdviceTable.builtIn()
        let advice = table.advice(
            risk: try? risk.get(), vitaminD: try? vitaminD.get(), condition: condition, alert: alert)
        switch advice {
        case .sentence(let sentence): return sentence
        case .unknownWeather: return "There is no advice for this weather."
        case .fileLacksData:
            do throws(SequencingError) {
                _ = (try risk.get(), try vitaminD.get())
                return "This file lacks the data that the advice needs. Choose another file."
            } catch {
                return "There is no advice: \(error)"
            }
        }
    }
}

/// Approves the sign-in at the sandbox without a browser.
private struct SandboxBrowser: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}
#endif
