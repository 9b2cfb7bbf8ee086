import Foundation
import IoTCore

/// The functions of alsa-lib (https://www.alsa-project.org, asoundlib.h) that talk uses.
///
/// The library is loaded for the first sound device and not linked: a daemon without one does not need it and does not
/// use memory for it. It then stays loaded.
struct ALSALibrary: Sendable {
    typealias Open =
        @convention(c) @Sendable (
            UnsafeMutablePointer<OpaquePointer?>, UnsafePointer<CChar>, CInt, CInt
        ) -> CInt
    /// Device, format, access, channels, rate, resampling allowed, latency in µs.
    typealias SetParameters =
        @convention(c) @Sendable (OpaquePointer, CInt, CInt, CUnsignedInt, CUnsignedInt, CInt, CUnsignedInt) -> CInt
    typealias Read = @convention(c) @Sendable (OpaquePointer, UnsafeMutableRawPointer, CUnsignedLong) -> CLong
    typealias Write = @convention(c) @Sendable (OpaquePointer, UnsafeRawPointer, CUnsignedLong) -> CLong
    typealias Recover = @convention(c) @Sendable (OpaquePointer, CInt, CInt) -> CInt
    typealias Act = @convention(c) @Sendable (OpaquePointer) -> CInt
    typealias Describe = @convention(c) @Sendable (CInt) -> UnsafePointer<CChar>?
    typealias ErrorHandler =
        @convention(c) (
            UnsafePointer<CChar>?, CInt, UnsafePointer<CChar>?, CInt, UnsafePointer<CChar>?
        ) -> Void
    typealias SetErrorHandler = @convention(c) @Sendable (ErrorHandler?) -> CInt

    let open: Open
    let setParameters: SetParameters
    let read: Read
    let write: Write
    let recover: Recover
    let drain: Act
    let close: Act
    let describe: Describe

    /// Loaded once, at the first use.
    private static let loaded = Result { () throws(IoTError) in try ALSALibrary(file: "libasound.so.2") }

    /// Throws 25016 if the library is not installed.
    static func load() throws(IoTError) -> ALSALibrary { try loaded.get() }
}

extension ALSALibrary {
    private init(file: String) throws(IoTError) {
        guard let handle = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
            throw IoTError(
                .codecUnsupported, "\(file), which sound devices need, is not installed",
                remedy: "install it: apt-get install libasound2")
        }
        func find<Function>(_ name: String, as type: Function.Type) throws(IoTError) -> Function {
            guard let symbol = dlsym(handle, "snd_\(name)") else {
                throw IoTError(.codecUnsupported, "\(file) lacks snd_\(name)", remedy: "install another version")
            }
            return unsafeBitCast(symbol, to: type)
        }
        self.init(
            open: try find("pcm_open", as: Open.self),
            setParameters: try find("pcm_set_params", as: SetParameters.self),
            read: try find("pcm_readi", as: Read.self), write: try find("pcm_writei", as: Write.self),
            recover: try find("pcm_recover", as: Recover.self), drain: try find("pcm_drain", as: Act.self),
            close: try find("pcm_close", as: Act.self), describe: try find("strerror", as: Describe.self))
        // Otherwise alsa-lib writes to stderr. Its handler is variadic, but one that reads only the fixed arguments is
        // called in the same way on every platform of ours.
        _ = try find("lib_error_set_handler", as: SetErrorHandler.self)({ _, _, _, _, _ in })
    }
}
