import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import Radio
import RecurseCenter

/// `handshake nearby …`: who of one's community is near.
struct NearbyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nearby",
        abstract: "Notice fellow Recursers over Bluetooth: live, logged, announced once an hour.",
        discussion: """
            `watch` listens and tells who is near; it sends nothing unless --advertise says so. What is sent can be heard by \
            everybody: a rolling identifier means something only to friends who were given keys (see `share`), a static one \
            lets strangers follow you. To be seen is never proof: anybody can send anything.
            """,
        subcommands: [
            NearbyWatch.self, NearbyScan.self, NearbyAdvertise.self, NearbyReplay.self, NearbyLog.self,
            NearbyForget.self, NearbyShare.self, NearbyBefriend.self, NearbyUnfriend.self,
        ])

    /// What the numbers in beacons mean.
    static let community = Service.recurseCenter.name
}

/// Gives the kits' errors their place among the command's exit statuses.
enum NearbyFailure {
    static func reported<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as NearbyError {
            if case .vault(let error) = error { throw error }
            throw CommandError(
                status: error.isDamage ? .vault : .usage, code: error.code, message: error.description)
        } catch let error as RadioError {
            throw CommandError(
                status: error.isOfTheCommandLine ? .usage : .defect, code: error.code, message: error.description)
        } catch let error as BeaconsError {
            throw CommandError(status: .usage, code: "invalid_input", message: "\(error)")
        }
    }
}

extension NearbyError {
    fileprivate var isDamage: Bool { if case .damaged = self { true } else { false } }
}

extension RadioError {
    /// Whether another command line would help: a file or an adapter that is not there.
    fileprivate var isOfTheCommandLine: Bool {
        switch self {
        case .file, .input, .noAdapter(named: .some), .unsendable: true
        default: false
        }
    }
}

/// The calendar clock as beacons have it.
enum Now {
    static var timestamp: Timestamp { Timestamp.now() }
    static var seconds: Double { Timestamp.now().secondsSince1970 }
}

/// A person's number on the command line.
enum PersonArgument {
    static func parse(_ text: String) throws -> UserNumber {
        guard let number = Int(text), let person = try? UserNumber(number) else {
            throw ValidationError("a person is a number from 1 to 2147483647")
        }
        return person
    }
}
