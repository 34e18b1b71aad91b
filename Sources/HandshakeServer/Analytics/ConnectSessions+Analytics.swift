#if Server
import ConnectButton
import HTTPTypes
import Handshake
import IFTTTConnect
import OAuth

/// Analytics of the buttons.
extension ConnectSessions {
    /// Counts an event of an activation.
    ///
    /// Leaves out impressions of the connection: on a server, the activation loads before the user sees the button. The
    /// component reports when it becomes visible (``ConnectButtonEvent/shown``).
    func count(_ event: AnalyticsEvent, _ place: Place) async {
        guard !(event.name == .impression && event.object?.type == "connection") else { return }
        await settings.analytics?.record(event, for: place.user.id)
    }

    /// Counts an event that a page reports. The session does not change, whichever revision the page shows.
    ///
    /// - Returns: whether it was counted. If not, the page need not report more.
    /// - Throws: ``RequestRefusal`` for a token that is not this session's.
    func count(_ message: ConnectButtonMessage, at place: Place) async throws -> Bool {
        guard let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:)),
            Secret(message.token).matches(Secret(session.token))
        else { throw RequestRefusal.staleToken }
        guard let analytics = settings.analytics, let event = message.event.analyticsEvent(for: session.activation),
            analytics.mayCount(place.user.id)
        else { return false }
        return await analytics.record(event, for: place.user.id)
    }

    /// The anonymous ID of a consenting user.
    func anonymousID(of place: Place) async -> AnonymousID? {
        await settings.analytics?.anonymousID(of: place.user.id)
    }

    /// The answer for a page, including whether to report analytics events.
    func answer(
        _ session: ConnectSession, _ place: Place, to page: String?, in locale: ConnectButtonLocale, open: String? = nil
    ) async -> ConnectButtonAnswer {
        var answer = session.answer(
            to: page, in: locale, now: settings.time.now(), open: open,
            setUp: place.offer.setUpPage.map { settings.address.origin.description + $0.rawValue })
        answer.isCounted = await anonymousID(of: place) != nil
        return answer
    }
}
#endif
