import Glibc

/// A library that is loaded at its first use and not linked: it need not be installed, and a program that never uses it
/// has no memory for it. It then stays loaded.
package struct SharedLibrary {
    private let file: String
    private let handle: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - file: The name with the version of the interface, for example `libasound.so.2`.
    ///   - use: Which part of the product needs it, for example `which sound devices need`.
    ///   - package: The Debian package.
    /// - Throws: 25016 if it is not installed.
    package init(file: String, use: String, package: String) throws(IoTError) {
        guard let handle = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
            throw IoTError(
                .codecUnsupported, "\(file), \(use), is not installed",
                remedy: "install it: apt-get install \(package)")
        }
        self.file = file
        self.handle = handle
    }

    /// The function of this name. The caller states its type as the library's headers have it.
    ///
    /// - Throws: 25016 if the library does not have it.
    package func function<Function>(
        _ name: String, as type: Function.Type = Function.self
    ) throws(IoTError) -> Function {
        guard let symbol = dlsym(handle, name) else {
            throw IoTError(.codecUnsupported, "\(file) lacks \(name)", remedy: "install another version")
        }
        return unsafeBitCast(symbol, to: type)
    }
}
