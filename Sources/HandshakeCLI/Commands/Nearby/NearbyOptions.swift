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
    private let directory: ProfileDirectory
    private let photos: PhotoCache
    private let center: RecurseCenter?
    private let signInEnded: @Sendable (HandshakeError) -> Void

    /// - Parameters:
    ///   - center: whom to ask; nil asks nobody.
    ///   - home: the command's folder; profiles and photos of an account rest below it.
    ///   - account: the account's name.
    ///   - signInEnded: is told each time the service does not know the user any more.
    init(
        _ center: RecurseCenter?, home: String, account: String,
        signInEnded: @escaping @Sendable (HandshakeError) -> Void = { _ in }
    ) throws {
        self.center = center
        self.signInEnded = signInEnded
        // A name may hold anything; a folder's may not.
        let folder = home + "/people/" + Data(account.utf8).map { String(format: "%02x", $0) }.joined()
        do {
            directory = try ProfileDirectory(folder: folder + "/profiles") { id in
                guard let center else { throw RecurseCenterError.unknownPerson(.id(id)) }
                return try await center.profile(.id(id))
            }
            photos = try PhotoCache(folder: folder + "/photos")
        } catch {
            throw RecurseCenterOptions.commandError(error)
        }
    }

    func introduce(_ number: UserNumber) async -> Introduction {
        guard let center, let id = PersonID(Int64(number.value)) else { return .nobody }
        do {
            let profile = try await directory.entry(id).profile
            // A photo is a nicety: whoever has none, or cannot have it now, is met all the same.
            let photo = try? await photos.photo(of: profile, from: center)
            return .known(
                Person(
                    name: profile.name, batch: profile.batchLabel.isEmpty ? nil : profile.batchLabel,
                    photo: photo?.path, page: center.page(of: profile)))
        } catch RecurseCenterError.unknownPerson {
            return .nobody
        } catch RecurseCenterError.account(let error) where ExitStatus(error) == .signInNeeded {
            signInEnded(error)
            return .unreachable
        } catch {
            return .unreachable
        }
    }

    /// Forgets a person's profile and photo; without a number, everyone's.
    func forget(_ number: UserNumber?) async throws {
        var people: [PersonID] = []
        if let number {
            people += [PersonID(Int64(number.value))].compactMap(\.self)
        } else {
            people = await directory.everyone().map(\.profile.id)
        }
        for id in people {
            do {
                try await directory.forget(id)
                try photos.forget(id)
            } catch {
                throw RecurseCenterOptions.commandError(error)
            }
        }
    }
}

extension RecurseCenter {
    /// The address of a person's page in the directory, for people to read; nil without a slug.
    fileprivate func page(of profile: Profile) -> String? {
        guard let slug = profile.slug, let root = account.service.apiRoot,
            let path = slug.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-", "_"]))
        else { return nil }
        return "\(root.origin)/directory/\(path)"
    }
}
