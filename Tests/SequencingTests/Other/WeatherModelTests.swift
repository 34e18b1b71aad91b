import FileSelector
import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing
import TestFixtures
import Testing

@testable import WeatherMyWay

@Suite("The iOS sample", .heavy)
@MainActor
struct WeatherModelTests {
    private func isSignedOut(_ model: WeatherModel) -> Bool {
        if case .signedOut = model.step { true } else { false }
    }

    /// The kit of a model whose user is signed in.
    private func genome(of model: WeatherModel) throws -> Sequencing {
        guard case .signedIn(let genome) = model.step else {
            throw SignedOut(step: "\(model.step)", problem: model.problem)
        }
        return genome
    }

    private struct SignedOut: Error {
        let step: String
        let problem: String?
    }

    /// Whether nothing of a user is left in what the app shows.
    private func isBlank(_ model: WeatherModel) -> Bool {
        model.choice == nil && model.report == nil && model.genes == nil
    }

    @Test("a user's choice and advice are there after the next launch")
    func relaunch() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        #expect(model.report != nil && model.problem == nil)
        let again = await phone.launched()
        #expect(again.choice?.id.string == "227001" && again.report != nil)
        #expect(again.selector?.state.remembered == again.choice)
        await phone.sandbox.stop()
    }

    @Test(
        "A17: the app shows that the user is signing in, and a second tap begins no second sign-in",
        arguments: [false, true])
    func signingIn(leaves: Bool) async throws {
        let phone = try await Phone()
        phone.leaves = leaves
        let gate = Gate()
        phone.gate = gate
        let model = await phone.launched()
        #expect(!model.isSigningIn && isSignedOut(model))
        let first = await phone.beginSignIn(in: model)
        #expect(phone.pages == 1 && model.isSigningIn && isSignedOut(model))
        await model.signIn()
        #expect(phone.pages == 1 && model.isSigningIn)
        gate.open()
        await first.value
        #expect(!model.isSigningIn && model.problem == nil)
        #expect(isSignedOut(model) == leaves)
        await model.signIn()
        #expect(phone.pages == 2, "another sign-in can follow")
        await phone.sandbox.stop()
    }

    @Test("A17: a sign-in that the user cancels ends without a message, and another can follow")
    func cancelled() async throws {
        let phone = try await Phone()
        let gate = Gate()
        phone.gate = gate
        let model = await phone.launched()
        let first = await phone.beginSignIn(in: model)
        #expect(phone.pages == 1 && model.isSigningIn)
        model.cancelSignIn()
        // A sign-in that goes on succeeds now.
        gate.open()
        await first.value
        #expect(!model.isSigningIn && model.problem == nil && isSignedOut(model))
        await model.signIn()
        #expect(phone.pages == 2 && !isSignedOut(model))
        await phone.sandbox.stop()
    }

    @Test("D19: a choice that the user forgets in the selector is not there after the next launch")
    func forgotten() async throws {
        let phone = try await Phone()
        _ = try await phone.chosen()
        let model = await phone.launched()
        model.selector?.forget()
        #expect(model.selector?.state.remembered == nil && model.report != nil, "the advice stays until then")
        let again = await phone.launched()
        #expect(again.choice == nil && again.selector?.state.remembered == nil && again.report == nil)
        await phone.sandbox.stop()
    }

    @Test("D20: the selector asks for the list again whenever it opens, with the last one in view")
    func reopened() async throws {
        let phone = try await Phone()
        let model = await phone.launched()
        await model.signIn()
        phone.sandbox.clearRequests()
        for count in [1, 2] {
            await model.openSelector()
            #expect(phone.sandbox.requests(.sequencing).count { $0.path == "/DataSourceList" } == count)
            #expect(model.selector?.state.phase == .loaded)
        }
        await phone.sandbox.stop()
    }

    @Test("another user who signs in sees nothing of the file of the user before, also after a launch")
    func anotherUser() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        let name = model.userName
        phone.user = "grace@example.test"
        await model.signIn()
        #expect(model.userName != nil && model.userName != name)
        #expect(isBlank(model) && model.selector?.state.remembered == nil)
        let again = await phone.launched()
        #expect(isBlank(again) && again.selector?.state.remembered == nil)
        try await phone.choose(in: again)
        #expect(again.choice?.id.string == "228001" && again.report != nil)
        await phone.sandbox.stop()
    }

    @Test("C07: another user who signs in gets no import and no chain of the user before; the same user keeps them")
    func anotherUsersImports() async throws {
        let phone = try await Phone()
        let model = await phone.launched()
        await model.signIn()
        let genome = try genome(of: model)
        let keys = [genome.account.id.vaultKey(.imports), genome.account.id.vaultKey(.jobs)]
        for key in keys { try await phone.vault.update(key) { try await $0.replace(with: Array("[]".utf8)) } }
        func areThere() async throws -> [Bool] {
            var areThere: [Bool] = []
            for key in keys { areThere.append(try await phone.vault.record(key) != nil) }
            return areThere
        }
        await model.signIn()
        #expect(try await areThere() == [true, true], "the same user")
        let again = await phone.launched()
        #expect(try await areThere() == [true, true], "a launch")
        phone.user = "grace@example.test"
        await again.signIn()
        #expect(again.userName != nil)
        #expect(try await areThere() == [false, false])
        await phone.sandbox.stop()
    }

    @Test("a user whose name is not known sees no choice of an earlier launch")
    func unknownUser() async throws {
        let phone = try await Phone()
        _ = try await phone.chosen()
        phone.sandbox.inject(try FaultRule(parsing: "sequencing /indexApi.php => status 503"))
        let again = await phone.launched()
        #expect(again.userName == nil && isBlank(again))
        try await phone.choose(in: again)
        #expect(phone.settings == nil, "the choice of an unknown user is not kept")
        await phone.sandbox.stop()
    }

    @Test("A17: where the session has ended, the app says so and opens no page, and advice for another file is gone")
    func anotherFile() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        let genome = try genome(of: model)
        let other = try #require(try await genome.files(.sample).first)
        #expect(model.report != nil && model.choice?.id != other.id)
        phone.sandbox.expireAccessTokens(.sequencing)
        phone.sandbox.revokeRefreshTokens(.sequencing)
        phone.leaves = true
        await model.choose(other)
        #expect(model.choice?.id == other.id)
        #expect(model.report == nil && model.genes == nil && !model.isAsking)
        #expect(model.needsSignIn && phone.pages == 1, "the user decides when the page opens")
        await model.signIn()
        #expect(model.needsSignIn && phone.pages == 2 && model.choice?.id == other.id, "the user has left the page")
        phone.leaves = false
        await model.signIn()
        #expect(!model.needsSignIn && model.choice?.id == other.id && model.report != nil)
        await phone.sandbox.stop()
    }

    @Test("A17: a session that has ended is told at the next launch, and the choice is there after the sign-in")
    func expired() async throws {
        let phone = try await Phone()
        _ = try await phone.chosen()
        phone.sandbox.expireAccessTokens(.sequencing)
        phone.sandbox.revokeRefreshTokens(.sequencing)
        let again = await phone.launched()
        #expect(again.needsSignIn && phone.pages == 1 && !again.isAsking)
        await again.signIn()
        #expect(!again.needsSignIn && again.choice?.id.string == "227001" && again.report != nil)
        await phone.sandbox.stop()
    }

    @Test("E16: a chain that failed is told once and not on every day, and asking again brings the advice")
    func failedChain() async throws {
        let phone = try await Phone()
        phone.sandbox.inject(try FaultRule(parsing: "sequencing /v2/StartAppBatch => status 500 x1"))
        let model = try await phone.chosen()
        let error = try #require(model.genes?.error)
        let days = try #require(model.report?.days)
        #expect(days.count == 7 && days.allSatisfy { $0.sentence?.contains("\(error)") != true })
        // The first day has an alert, which is told all the same.
        #expect(days.count { $0.sentence == nil } == 6 && model.problem == nil)
        await model.look()
        #expect(model.genes?.error == nil && model.report?.days.allSatisfy { $0.sentence != nil } == true)
        await phone.sandbox.stop()
    }

    @Test("E16: another look while the chains run does not start them again")
    func anotherLook() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        let genome = try genome(of: model)
        let other = try #require(try await genome.files(.sample).first)
        phone.sandbox.clearRequests()
        let first = Task { await model.choose(other) }
        while !model.isAsking { await Task.yield() }
        await model.look()
        await first.value
        #expect(phone.sandbox.requests(.sequencing).count { $0.path == "/v2/StartAppBatch" } == 1)
        #expect(model.report != nil && model.problem == nil)
        await phone.sandbox.stop()
    }

    @Test("E16: the alert in force is told while the chains run, and where the session has ended")
    func warning() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        let genome = try genome(of: model)
        let samples = try await genome.files(.sample)
        try #require(samples.count > 1)
        let choosing = Task { await model.choose(samples[0]) }
        while !model.isAsking { await Task.yield() }
        #expect(model.report == nil)
        #expect(model.warning == "A warning of high wind is in force. Keep away from trees and scaffolds.")
        await choosing.value
        model.placeName = "Oslo"
        #expect(model.warning == nil)
        phone.sandbox.expireAccessTokens(.sequencing)
        phone.sandbox.revokeRefreshTokens(.sequencing)
        model.placeName = "Miami"
        await model.choose(samples[1])
        #expect(model.needsSignIn && model.report == nil)
        #expect(model.warning == "A hurricane warning is in force. Stay inside and follow the authorities.")
        await phone.sandbox.stop()
    }

    @Test("E16: a file that the user comes back to is not run again, while its chains run and after")
    func back() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        let genome = try genome(of: model)
        let own = try #require(try await genome.files(.uploaded).first)
        let samples = try await genome.files(.sample)
        try #require(samples.count > 1)
        func starts() -> Int { phone.sandbox.requests(.sequencing).count { $0.path == "/v2/StartAppBatch" } }
        phone.sandbox.clearRequests()
        let first = Task { await model.choose(samples[0]) }
        while model.choice?.id != samples[0].id { await Task.yield() }
        let second = Task { await model.choose(samples[1]) }
        while model.choice?.id != samples[1].id { await Task.yield() }
        await model.choose(samples[0])
        #expect(model.choice?.id == samples[0].id && model.genes != nil && model.report != nil)
        await first.value
        await second.value
        #expect(starts() == 2)
        for file in [own, samples[1]] {
            await model.choose(file)
            #expect(model.choice?.id == file.id && model.genes != nil && model.report != nil && !model.isAsking)
        }
        #expect(starts() == 2)
        await phone.sandbox.stop()
    }

    @Test("E16: what the chains found for a user is not shown to the next user, of a sample neither")
    func nextUser() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        func chooseSample() async throws {
            let genome = try genome(of: model)
            await model.choose(try #require(try await genome.files(.sample).first))
        }
        try await chooseSample()
        phone.user = "grace@example.test"
        await model.signIn()
        phone.sandbox.clearRequests()
        try await chooseSample()
        #expect(model.report != nil)
        #expect(phone.sandbox.requests(.sequencing).count { $0.path == "/v2/StartAppBatch" } == 1)
        await phone.sandbox.stop()
    }

    @Test("E16: the chains are not run again for the same user who signs in again")
    func sameUser() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        #expect(model.report != nil)
        phone.sandbox.clearRequests()
        await model.signIn()
        #expect(model.report != nil && model.problem == nil && phone.pages == 2)
        #expect(!phone.sandbox.requests(.sequencing).contains { $0.path == "/v2/StartAppBatch" })
        await phone.sandbox.stop()
    }

    @Test("signing out forgets the file, also when the service cannot be told", arguments: [false, true])
    func signOut(isBroken: Bool) async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        #expect(phone.settings != nil)
        if isBroken { phone.sandbox.inject(try FaultRule(parsing: "sequencing /oauth2/revoke => status 503")) }
        await model.signOut()
        #expect(isSignedOut(model) && isBlank(model) && model.userName == nil && model.importing == nil)
        #expect((model.problem != nil) == isBroken)
        #expect(phone.settings == nil)
        let again = await phone.launched()
        #expect(isSignedOut(again) && isBlank(again))
        await phone.sandbox.stop()
    }

    @Test("C07: a file from the web is copied into the account, and an app that cannot ask for it does not offer it")
    func copy() async throws {
        let phone = try await Phone()
        let without = await phone.launched()
        #expect(!without.canCopy && without.copying() == nil)
        let secret = try #require(phone.sandbox.sequencing.clients.lazy.compactMap(\.secret).first)
        let model = await phone.launched(secret: Secret(secret))
        await model.signIn()
        let sheet = try #require(model.copying())
        sheet.state = CopyingState(
            email: "ada@example.test", name: "copied.vcf.gz", url: "https://files.example.test/ada.vcf.gz")
        sheet.send()
        await sheet.finish()
        #expect(sheet.state.step == .accepted)
        phone.sandbox.advanceClock(by: 60)
        let genome = try genome(of: model)
        let names = try await genome.files(.uploaded).map(\.name)
        #expect(names.contains("copied.vcf.gz"), "\(names)")
        await phone.sandbox.stop()
    }

    @Test("C02: a question that waits for its answer outlasts the sheet and a new sign-in, but not a sign-out")
    func question() async throws {
        let phone = try await Phone()
        let model = try await phone.chosen()
        func ask() async throws {
            let sheet = try #require(model.importing)
            (sheet.login, sheet.password) = ("ada@example.test", "x")
            await sheet.start()
        }
        // Only the model keeps what the sheet showed, while the user does something else.
        try await ask()
        try await phone.choose(in: model)
        guard case .question(let question)? = model.importing?.step else {
            Issue.record("\(String(describing: model.importing?.step))")
            return
        }
        #expect(question.text == "First pet?")
        await model.signIn()
        guard case .question? = model.importing?.step else {
            Issue.record("the same user's new sign-in: \(String(describing: model.importing?.step))")
            return
        }
        await model.signOut()
        await model.signIn()
        guard case .credentials? = model.importing?.step else {
            Issue.record("\(String(describing: model.importing?.step))")
            return
        }
        await phone.sandbox.stop()
    }
}
