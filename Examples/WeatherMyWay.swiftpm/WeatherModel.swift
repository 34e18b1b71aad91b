import FileSelector
import Foundation
import Handshake
import OAuth
import Observation
import Sequencing
import UIKit

/// What the app knows and does: the account, the chosen file, the forecast, and an import.
@MainActor @Observable
final class WeatherModel {
    enum Step {
        case opening
        case signedOut
        case signedIn(Sequencing)
        case failed(String)
    }

    private(set) var step = Step.opening
    private(set) var userName: String?
    private(set) var selector: FileSelectorModel?
    private(set) var report: WeatherReport?
    private(set) var genes: Genes?
    private(set) var isAsking = false
    /// Counts requests for advice: only the last one's answer is shown.
    @ObservationIgnored private var looks = 0
    /// What went wrong last, for the user.
    private(set) var problem: String?
    var placeName = ""
    /// The user's choice, kept across launches.
    private(set) var choice: RememberedChoice?

    private(set) var places: [Place] = []
    private var table: AdviceTable?
    private var handshake: Handshake?
    private static let choiceKey = "choice"

    /// The app's registration. An app of its own has its own identifier and redirect URI, and `Service.sequencing`.
    private static func client() throws -> Client {
        let sandbox = try EndpointURL("http://127.0.0.1:8089", security: .allowingInsecureLoopback)
        let redirect = try RedirectURI("com.example.app:/callback")
        return Client(service: .sequencing.at(sandbox), id: "my-genome-app", redirect: .uri(redirect))
    }

    /// Asks for accounts and new passwords.
    func registration() throws -> RegistrationModel {
        let client = try Self.client()
        let hosts = Sequencing.Hosts(of: client.service)
        return RegistrationModel(Registration(.identifier(client.id), at: hosts))
    }

    func open() async {
        do {
            table = try .builtIn()
            places = try ForecastTable.builtIn().places
            placeName = places.first?.name ?? ""
            choice = UserDefaults.standard.data(forKey: Self.choiceKey)
                .flatMap { try? JSONDecoder().decode(RememberedChoice.self, from: $0) }
            let handshake = try Handshake(Self.client(), vault: await KeychainVault.open())
            self.handshake = handshake
            if let account = try await handshake.account() { await enter(account) } else { step = .signedOut }
        } catch {
            step = .failed("\(error)")
        }
    }

    func signIn() async {
        guard let handshake else { return }
        problem = nil
        do {
            await enter(try await handshake.signIn(through: WebAuthenticationBrowser { Self.window }))
        } catch HandshakeError.signInAbandoned {
            // The user's own choice needs no message.
        } catch {
            problem = "\(error)"
        }
    }

    private func enter(_ account: Account) async {
        let genome = Sequencing(account)
        step = .signedIn(genome)
        // Another user may have signed in.
        (genes, report) = (nil, nil)
        selector = FileSelectorModel(genome, remembered: choice)
        userName = try? await account.identity().name
        if choice != nil { await look() }
    }

    func choose(_ file: GeneticFile) async {
        let choice = RememberedChoice(file)
        self.choice = choice
        genes = nil
        UserDefaults.standard.set(try? JSONEncoder().encode(choice), forKey: Self.choiceKey)
        await look()
    }

    /// Runs the two chains, and reads the forecast by what they find.
    func look() async {
        guard case .signedIn(let genome) = step, let choice, let table,
            let place = places.first(where: { $0.name == placeName })
        else { return }
        isAsking = true
        problem = nil
        looks += 1
        let look = looks
        do {
            // A failure is asked again.
            let known = genes.flatMap { $0.error == nil ? $0 : nil }
            let genes = if let known { known } else { try await Genes.ask(genome, about: choice.id) }
            // The user has chosen another file or place meanwhile, or signed out.
            guard look == looks else { return }
            self.genes = genes
            report = WeatherReport(place, for: genes, by: table)
        } catch {
            guard look == looks else { return }
            isAsking = false
            guard case SequencingError.account(.signInRequired) = error else {
                problem = "\(error)"
                return
            }
            await signIn()
        }
        if look == looks { isAsking = false }
    }

    func signOut() async {
        do {
            let report = try await handshake?.account()?.signOut()
            guard report?.isForgotten ?? true else {
                problem = "Sequencing.com could not be told. Sign out again later."
                return
            }
        } catch {
            problem = "\(error)"
            return
        }
        UserDefaults.standard.removeObject(forKey: Self.choiceKey)
        looks += 1
        isAsking = false
        (choice, report, genes, selector, userName) = (nil, nil, nil, nil, nil)
        step = .signedOut
    }

    private static var window: UIWindow {
        UIApplication.shared.connectedScenes.lazy.compactMap { ($0 as? UIWindowScene)?.keyWindow }.first ?? UIWindow()
    }
}
