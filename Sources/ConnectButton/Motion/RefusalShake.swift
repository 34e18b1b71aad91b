#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The shake after a refused address (IFTTT dossier 4.5, F015): to the left, and back with a spring that starts at rest
/// there. With Reduce Motion there is no shake: the field and the footer show the error.
struct RefusalShake: Sendable, Hashable {
    private let motion = ConnectButtonMotion.standard

    /// After this time, the offset is below a twentieth of a point.
    var duration: Double { motion.shakeEnd }

    /// The standard shake.
    static let standard = RefusalShake()

    /// The offset of the pill, in points to the right.
    ///
    /// - Parameter seconds: The time since the refusal.
    func offset(at seconds: Double) -> Double {
        guard seconds > 0, seconds < duration else { return 0 }
        guard seconds > motion.shakeOut else {
            return -motion.shakeDistance * motion.easeInOut.progress(at: seconds / motion.shakeOut)
        }
        let decay = motion.shakeDamping / (2 * motion.shakeMass)
        let pulse = (motion.shakeStiffness / motion.shakeMass - decay * decay).squareRoot()
        let since = seconds - motion.shakeOut
        let swing = cos(pulse * since) + decay / pulse * sin(pulse * since)
        return -motion.shakeDistance * exp(-decay * since) * swing
    }
}
