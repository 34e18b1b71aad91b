#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import Radio
import RecurseCenter

/// `handshake nearby …`: which members of the community are near.
struct NearbyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nearby",
        abstract: "Notice members of your community who are near, over Bluetooth.",
        discussion: """
            To begin: join your community with `circle join URL`, or exchange keys with one person with `pair`. Then run `watch \
            --advertise rolling`, or `open` for a page in the browser. `watch` listens and reports who is near; it sends nothing \
            without --advertise. Every device in range can receive what you send. Only members of your circles, and friends who have \
            keys of yours, recognise a rolling identifier; a static one lets strangers follow you. A beacon is no proof of identity: \
            any device can send any number.
            """,
        subcommands: [
            NearbyWatch.self, NearbyOpen.self, NearbyScan.self, NearbyAdvertise.self, NearbyReplay.self, NearbyLog.self,
            NearbyShow.self, NearbyForget.self, NearbyFriends.self, NearbyShare.self, NearbyBefriend.self,
            NearbyUnfriend.self, NearbyPair.self, NearbyWave.self, NearbyCircleCommand.self, NearbyAudit.self,
        ])

    /// The namespace of the numbers in beacons.
    static let community = Service.recurseCenter.name
}

/// The exit statuses of the kits' errors.
enum NearbyFailure {
    static func reported<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as NearbyError {
            if case .vault(let error) = error { throw error }
            throw CommandError(status: error.status, code: error.code, message: error.message)
        } catch let error as RadioError {
            throw CommandError(status: status(error), code: error.code, message: error.message)
        } catch let error as BeaconsError {
            throw CommandError(status: .usage, code: "invalid_input", message: "\(error)")
        }
    }

    static func status(_ error: RadioError) -> ExitStatus {
        if error.isOfTheCommandLine { return .usage }
        return error.isUnreachable ? .network : .defect
    }
}

extension NearbyError {
    /// What happened and what to do, with the command for it.
    var message: String { description + (command ?? "") }

    /// The message without a person's number: what a watch says goes into the system's journal, which no forgetting reaches.
    var impersonal: String {
        guard case .damaged(_, let reason) = self else { return message }
        return
            "The record of a person cannot be read: \(reason). See whose it is with: handshake nearby log, or: handshake nearby friends"
    }

    private var command: String? {
        switch self {
        case .damaged(let person, _): ": handshake nearby forget \(person)"
        case .otherIdentity(let person): ": handshake nearby unfriend \(person)"
        case .keysOfMember: ": handshake nearby pair"
        case .circle(.refused(_, "identity_exists", _)): ": handshake nearby circle join URL --replace"
        case .circle(.signedOut), .circle(.notJoined): ": handshake nearby circle join URL"
        case .circle(.removed): ": handshake nearby circle leave"
        case .circle(.alreadyJoined): ": handshake nearby circle rotate"
        case .circle(.wavesOff): ": handshake nearby circle settings --waves on"
        case .circle(.forgottenMember(let person, _)): ": handshake nearby circle unhide \(person)"
        case .circle(.unreadableTable), .circle(.tableNeeded):
            ". Otherwise fetch the members now: handshake nearby circle sync"
        case .circle(.pinsLost): ": handshake nearby pair"
        case .vault, .sharedKeys, .circle, .everyoneForgotten: nil
        }
    }

    fileprivate var status: ExitStatus {
        switch self {
        case .vault, .damaged: .vault
        case .sharedKeys, .otherIdentity, .keysOfMember, .everyoneForgotten: .usage
        case .circle(let problem):
            switch problem {
            case .address, .notJoined, .alreadyJoined, .otherService, .otherNumber, .wave, .wavesOff, .forgottenMember:
                .usage
            case .network: .network
            case .refused, .malformed, .removed, .tooMany: .serviceError
            case .signedOut: .signInNeeded
            case .notAMember, .attemptOver: .abandoned
            case .clock, .record: .refused
            case .unreadableTable, .pinsLost, .tableNeeded: .vault
            }
        }
    }
}

extension RadioError {
    /// What happened and what to do, with the command for it.
    var message: String {
        switch self {
        case .notSupported, .advertisementRejected, .refused: "\(description). To check it, run: handshake doctor"
        default: description
        }
    }

    /// Whether another command line would help: a file or an adapter does not exist.
    fileprivate var isOfTheCommandLine: Bool {
        switch self {
        case .file, .input, .noAdapter(named: .some), .unsendable, .damagedRecording, .notARecording: true
        default: false
        }
    }

    /// The note of a radio that is waited for.
    var waitingNote: String {
        let sentences = [fault, cure].compactMap { $0 }.map { "\($0.prefix(1).uppercased())\($0.dropFirst())." }
        return (sentences + (isTransient ? ["Waiting; stop with Ctrl-C."] : [])).joined(separator: " ")
    }

    /// Whether the bus or the Bluetooth daemon does not answer.
    fileprivate var isUnreachable: Bool {
        switch self {
        case .noBus, .noBlueZ, .lost: true
        case .noWayToScan(let attempts): !attempts.isEmpty && attempts.allSatisfy(\.error.isUnreachable)
        default: false
        }
    }
}

/// The calendar clock for beacons.
enum Now {
    static var timestamp: Timestamp { Timestamp.now() }
    static var seconds: Double { Timestamp.now().secondsSince1970 }
}

/// A person's number on the command line.
enum PersonArgument {
    static func parse(_ text: String) throws -> UserNumber {
        guard let number = Int(text), let person = try? UserNumber(number) else {
            throw ValidationError(
                "“\(quoted(text, limit: 40))” is not a profile number. Give a number from 1 to 2147483647; those of people you met are in: handshake nearby log"
            )
        }
        return person
    }
}
#endif
