#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The shake of a refused address (IFTTT dossier 4.5, F015): out to the left, and back with a spring that starts at rest
/// there. With Reduce Motion nothing shakes: the field and the footer say it.
struct RefusalShake: Sendable, Hashable {
    private let motion = ConnectButtonMotion.standard

    /// After this many seconds less than a third of a point is left, and the pill is at rest.
    let duration = 1.1

    /// The one shake.
    static let standard = RefusalShake()

    /// Where the pill is, in points to the right.
    ///
    /// - Parameter seconds: The time since the refusal.
    func offset(at seconds: Double) -> Double {
        guard seconds > 0, seconds < duration else { return 0 }
        guard seconds > motion.shakeOut else { return -motion.shakeDistance * seconds / motion.shakeOut }
        let decay = motion.shakeDamping / (2 * motion.shakeMass)
        let pulse = (motion.shakeStiffness / motion.shakeMass - decay * decay).squareRoot()
        let since = seconds - motion.shakeOut
        let swing = cos(pulse * since) + decay / pulse * sin(pulse * since)
        return -motion.shakeDistance * exp(-decay * since) * swing
    }
}
