import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import RecurseCenter

/// What the commands accept that ask the Recurse Center who somebody is.
struct NearbyOptions: ParsableArguments {
    @Option(help: "The account that is asked who somebody is.")
    var account = "recurse-center"

    @OptionGroup var common: CommonOptions

    /// One's own number: as given, or as the service says.
    ///
    /// - Throws: when it is neither given nor to be had from the service.
    func ownNumber(_ given: UserNumber?, in vault: any Vault) async throws -> UserNumber {
        if let given { return given }
        guard let center = try await center(in: vault) else {
            throw CommandError(
                status: .signInNeeded, code: "sign_in_required",
                message: "your own number is not known; sign in with: handshake login \(account), or give --me")
        }
        return try await Self.ownNumber(center)
    }

    /// The kit for the account; nil when there is no such account.
    func center(in vault: any Vault) async throws -> RecurseCenter? {
        guard try await Registrations(in: vault).client(named: account) != nil else { return nil }
        let known = try await KnownAccount.open(account, in: vault)
        guard known.client.service.name == Service.recurseCenter.name else {
            throw CommandError.usage(
                "\(account) is an account of \(known.client.service.displayName), not of the Recurse Center")
        }
        return RecurseCenter(known.account, retry: RetryPolicy(deadline: .seconds(10)))
    }

    static func ownNumber(_ center: RecurseCenter) async throws -> UserNumber {
        do {
            return try UserNumber(Int(truncatingIfNeeded: try await center.profile(.me).id.number))
        } catch let error as RecurseCenterError {
            throw RecurseCenterOptions.commandError(error)
        } catch let error as BeaconsError {
            throw CommandError(status: .serviceError, code: "number_too_large", message: "\(error)")
        }
    }
}

/// Who people are, as the Recurse Center says: remembered on this machine, with their photos.
struct Acquaintances: Sendable {
    private let center: RecurseCenter
    private let directory: ProfileDirectory
    private let photos: PhotoCache?

    /// - Parameters:
    ///   - center: whom to ask.
    ///   - home: the command's folder; profiles and photos of an account rest below it.
    ///   - account: the account's name.
    init(_ center: RecurseCenter, home: String, account: String) throws {
        self.center = center
        // A name may hold anything; a folder's may not.
        let folder = home + "/people/" + Data(account.utf8).map { String(format: "%02x", $0) }.joined()
        do {
            directory = try ProfileDirectory(center, folder: folder + "/profiles")
            photos = try PhotoCache(folder: folder + "/photos")
        } catch {
            throw RecurseCenterOptions.commandError(error)
        }
    }

    func introduce(_ number: UserNumber) async -> Introduction {
        guard let id = PersonID(Int64(number.value)) else { return .nobody }
        do {
            let entry = try await directory.entry(id)
            return .known(await person(entry.profile))
        } catch RecurseCenterError.unknownPerson {
            return .nobody
        } catch {
            return .unreachable
        }
    }

    /// Forgets a person's profile and photo.
    func forget(_ number: UserNumber) async throws {
        guard let id = PersonID(Int64(number.value)) else { return }
        do {
            try await directory.forget(id)
            try photos?.forget(id)
        } catch {
            throw RecurseCenterOptions.commandError(error)
        }
    }

    private func person(_ profile: Profile) async -> Person {
        // A photo is a nicety: whoever has none, or cannot have it now, is met all the same.
        let photo = try? await photos?.photo(of: profile, from: center)
        return Person(
            name: profile.name, batch: profile.batchLabel.isEmpty ? nil : profile.batchLabel, photo: photo?.path)
    }
}
