#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import RecurseCenter

/// The options of commands that look people up at the Recurse Center.
struct NearbyOptions: ParsableArguments {
    @Option(help: "The account that is asked for names and photos.")
    var account = "recurse-center"

    @OptionGroup var common: CommonOptions

    /// The user's own number, from the command line or the service.
    ///
    /// - Throws: ``CommandError`` with status 3 when it is unknown.
    func ownNumber(_ given: UserNumber?, in vault: any Vault) async throws -> UserNumber {
        if let given { return given }
        if let center = try await center(in: vault), let own = try await ownNumber(center, in: vault) { return own }
        throw CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message:
                "Your own number is not known. Sign in with: handshake login recurse-center, or give it with --me NUMBER"
        )
    }

    /// The user's own number from the service; when it does not answer, the stored one. Nil without a network when none is
    /// stored.
    func ownNumber(_ center: RecurseCenter, in vault: any Vault) async throws -> UserNumber? {
        let memory = OwnNumber(in: vault, community: NearbyCommand.community, account: account)
        return try await NearbyFailure.reported {
            do {
                return try await memory.current {
                    try UserNumber(Int(truncatingIfNeeded: try await center.profile(.me).id.number))
                }
            } catch RecurseCenterError.account(.network) {
                return nil
            } catch let error as RecurseCenterError {
                throw RecurseCenterOptions.commandError(error)
            } catch let error as BeaconsError {
                throw CommandError(status: .serviceError, code: "number_too_large", message: "\(error)")
            }
        }
    }

    /// The Recurse Center of the account; nil when there is no such account.
    func center(in vault: any Vault) async throws -> RecurseCenter? {
        guard try await Registrations(in: vault).client(named: account) != nil else { return nil }
        let known = try await KnownAccount.open(account, in: vault)
        guard known.client.service.name == Service.recurseCenter.name else {
            throw CommandError.usage(
                "“\(account)” is an account of \(known.client.service.displayName), not of the Recurse Center. List your accounts with: handshake accounts"
            )
        }
        return RecurseCenter(known.account, retry: RetryPolicy(timeout: .seconds(10)))
    }
}

/// Looks people up at the Recurse Center, with a cache of profiles and photos in the vault.
struct Acquaintances: Sendable {
    private let directory: ProfileDirectory
    private let photos: PhotoCache
    private let center: RecurseCenter?
    private let signInEnded: @Sendable (HandshakeError) -> Void

    /// - Parameters:
    ///   - center: the service; nil looks no one up.
    ///   - vault: stores profiles and photos.
    ///   - account: the account's name.
    ///   - signInEnded: called each time the service rejects the account.
    init(
        _ center: RecurseCenter?, in vault: any Vault, account: String,
        signInEnded: @escaping @Sendable (HandshakeError) -> Void = { _ in }
    ) {
        self.center = center
        self.signInEnded = signInEnded
        directory = ProfileDirectory(in: vault, community: NearbyCommand.community, account: account) { id in
            guard let center else { throw RecurseCenterError.unknownPerson(.id(id)) }
            return try await center.profile(.id(id))
        }
        photos = PhotoCache(in: vault, community: NearbyCommand.community, account: account)
    }

    /// Whether there is a service to ask.
    var hasService: Bool { center != nil }

    /// The cached profile of a person and when it was fetched; nil when there is none.
    func cached(_ number: UserNumber) async -> ProfileDirectory.Entry? {
        guard let id = PersonID(Int64(number.value)) else { return nil }
        return await directory.known(id)
    }

    /// Looks up a person.
    func introduce(_ number: UserNumber) async -> Introduction {
        guard let center, let id = PersonID(Int64(number.value)) else { return .unknown }
        do {
            let profile = try await directory.entry(id).profile
            // A person is announced even if the photo is missing or cannot be fetched.
            _ = try? await photos.photo(of: profile, from: center)
            return .known(
                Person(
                    name: profile.name, batch: profile.batchLabel.isEmpty ? nil : profile.batchLabel,
                    page: center.page(of: profile)))
        } catch RecurseCenterError.unknownPerson {
            return .unknown
        } catch RecurseCenterError.account(let error) where ExitStatus(error) == .signInNeeded {
            signInEnded(error)
            return .unreachable
        } catch {
            return .unreachable
        }
    }

    /// A member of a circle with the page that the cached profile has. The service is not asked: it must not learn who is near.
    ///
    /// A circle can show a number with another name: then the page would be that of another person.
    func linked(_ member: Person, _ number: UserNumber) async -> Person {
        guard member.page == nil, let center, let profile = await cached(number)?.profile, profile.name == member.name
        else { return member }
        var linked = member
        linked.page = center.page(of: profile)
        return linked
    }

    /// A person's cached photo; nil when there is none.
    func photo(of number: UserNumber) async -> PhotoCache.CachedPhoto? {
        guard let id = PersonID(Int64(number.value)) else { return nil }
        return await photos.stored(id)
    }
}

extension RecurseCenter {
    /// The URL of a person's page in the directory; nil without a slug.
    fileprivate func page(of profile: Profile) -> String? {
        guard let slug = profile.slug, let root = account.service.apiRoot,
            let path = slug.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-", "_"]))
        else { return nil }
        return "\(root.origin)/directory/\(path)"
    }
}
#endif
