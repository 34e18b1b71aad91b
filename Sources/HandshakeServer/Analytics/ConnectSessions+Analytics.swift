#if Server
import ConnectButton
import HTTPTypes
import Handshake
import IFTTTConnect
import OAuth

/// Counting what happens to the buttons.
extension ConnectSessions {
    /// Counts what an activation reports.
    ///
    /// That its connection is shown is left out: the activation of a server loads when somebody asks for it. The component
    /// says when a person sees it (``ConnectButtonEvent/shown``).
    func count(_ event: AnalyticsEvent, _ place: Place) async {
        guard !(event.name == .impression && event.object?.type == "connection") else { return }
        await settings.analytics?.record(event, for: place.user.id)
    }

    /// Takes in what a page says that is only counted. The session stays as it is, whichever revision the page shows.
    ///
    /// - Returns: whether it was counted. When it was not, the page need not say more.
    /// - Throws: ``RequestRefusal`` for a token that is not this session's.
    func count(_ message: ConnectButtonMessage, at place: Place) async throws -> Bool {
        guard let session = try await vault.record(place.key).flatMap(ConnectSession.init(stored:)),
            Secret(message.token).matches(Secret(session.token))
        else { throw RequestRefusal(.forbidden, "stale_token", "The page is older than the session") }
        guard let analytics = settings.analytics, let event = message.event.analyticsEvent(for: session.activation),
            analytics.mayCount(place.user.id)
        else { return false }
        return await analytics.record(event, for: place.user.id)
    }

    /// The identifier of a user who agreed to be counted.
    func anonymousID(of place: Place) async -> AnonymousID? {
        await settings.analytics?.anonymousID(of: place.user.id)
    }

    /// What a page is told: also whether it is to say what is only counted.
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
