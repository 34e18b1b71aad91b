#if Server
import Handshake
import HTTPTypes
import Hummingbird
import OAuth

/// Rejects requests of browsers that come from pages of other sites: forged requests and forged sign-ins (CSRF).
struct SiteCheck: Sendable {
    let address: PublicAddress

    /// Throws for a request from a page of another site. Browsers send the origin of a request; other programs have no cookies
    /// to abuse.
    func check(_ request: Request) throws(RequestRefusal) {
        if let origin = request.headers[.origin], origin != address.origin.description { throw .crossSite }
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" { throw .crossSite }
    }
}
#endif
