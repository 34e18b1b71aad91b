import Handshake

/// A vault with one name a page, and too many for one listing.
struct PagedVault<Base: Vault>: ForwardingVault {
    let base: Base
    let pages = Shared(0)

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        throw VaultError.unavailable("there are too many records for one listing")
    }

    func forEachPage(of kind: VaultKey.Kind, _ body: @Sendable (VaultListing) async throws -> Void) async throws {
        for key in try await base.keys(of: kind).keys {
            pages.change { $0 += 1 }
            try await body(VaultListing(keys: [key]))
        }
    }
}
