import IoTCore

/// libavahi-client, loaded for the first announcement or search.
///
/// The types are from avahi-client's headers; every structure is opaque here. `@unchecked` because the function
/// pointers never change, and `AvahiSession` controls which thread calls them with which object.
struct AvahiLibrary: @unchecked Sendable {
    typealias ClientCallback = @convention(c) (OpaquePointer?, CInt, UnsafeMutableRawPointer?) -> Void
    typealias BrowserCallback =
        @convention(c) (
            OpaquePointer?, CInt, CInt, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            CInt, UnsafeMutableRawPointer?
        ) -> Void
    typealias ResolverCallback =
        @convention(c) (
            OpaquePointer?, CInt, CInt, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?, OpaquePointer?, UInt16, OpaquePointer?, CInt, UnsafeMutableRawPointer?
        ) -> Void

    let newPoll: @convention(c) () -> OpaquePointer?
    let freePoll: @convention(c) (OpaquePointer?) -> Void
    let pollInterface: @convention(c) (OpaquePointer?) -> OpaquePointer?
    let iterate: @convention(c) (OpaquePointer?, CInt) -> CInt
    let wakeUp: @convention(c) (OpaquePointer?) -> Void

    let newClient:
        @convention(c) (OpaquePointer?, CInt, ClientCallback?, UnsafeMutableRawPointer?, UnsafeMutablePointer<CInt>?) ->
            OpaquePointer?
    let freeClient: @convention(c) (OpaquePointer?) -> Void

    /// Groups have the same callback as clients.
    let newGroup: @convention(c) (OpaquePointer?, ClientCallback?, UnsafeMutableRawPointer?) -> OpaquePointer?
    let freeGroup: @convention(c) (OpaquePointer?) -> CInt
    let commitGroup: @convention(c) (OpaquePointer?) -> CInt
    /// Group, interface, protocol, flags, name, type, domain, host, port, strings.
    let addService:
        @convention(c) (
            OpaquePointer?, CInt, CInt, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?, UInt16, OpaquePointer?
        ) -> CInt

    /// Client, interface, protocol, type, domain, flags.
    let newBrowser:
        @convention(c) (
            OpaquePointer?, CInt, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, CInt, BrowserCallback?,
            UnsafeMutableRawPointer?
        ) -> OpaquePointer?
    let freeBrowser: @convention(c) (OpaquePointer?) -> CInt
    /// Client, interface, protocol, name, type, domain, the address's protocol, flags.
    let newResolver:
        @convention(c) (
            OpaquePointer?, CInt, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, CInt,
            CInt, ResolverCallback?, UnsafeMutableRawPointer?
        ) -> OpaquePointer?
    let freeResolver: @convention(c) (OpaquePointer?) -> CInt

    let addString: @convention(c) (OpaquePointer?, UnsafePointer<UInt8>?, Int) -> OpaquePointer?
    let nextString: @convention(c) (OpaquePointer?) -> OpaquePointer?
    let stringText: @convention(c) (OpaquePointer?) -> UnsafePointer<UInt8>?
    let stringSize: @convention(c) (OpaquePointer?) -> Int
    let freeStrings: @convention(c) (OpaquePointer?) -> Void
    let addressText: @convention(c) (UnsafeMutablePointer<CChar>?, Int, OpaquePointer?) -> UnsafeMutablePointer<CChar>?

    /// `nil` if it is not installed. It stays loaded also because libdbus cannot be unloaded.
    static let shared = try? AvahiLibrary()

    private init() throws(IoTError) {
        // The version of the interface, not of the release. It loads libavahi-common.
        let library = try SharedLibrary(
            file: "libavahi-client.so.3", use: "which contacts the Avahi daemon", package: "libavahi-client3")
        newPoll = try library.function("avahi_simple_poll_new")
        freePoll = try library.function("avahi_simple_poll_free")
        pollInterface = try library.function("avahi_simple_poll_get")
        iterate = try library.function("avahi_simple_poll_iterate")
        wakeUp = try library.function("avahi_simple_poll_wakeup")
        newClient = try library.function("avahi_client_new")
        freeClient = try library.function("avahi_client_free")
        newGroup = try library.function("avahi_entry_group_new")
        freeGroup = try library.function("avahi_entry_group_free")
        commitGroup = try library.function("avahi_entry_group_commit")
        addService = try library.function("avahi_entry_group_add_service_strlst")
        newBrowser = try library.function("avahi_service_browser_new")
        freeBrowser = try library.function("avahi_service_browser_free")
        newResolver = try library.function("avahi_service_resolver_new")
        freeResolver = try library.function("avahi_service_resolver_free")
        addString = try library.function("avahi_string_list_add_arbitrary")
        nextString = try library.function("avahi_string_list_get_next")
        stringText = try library.function("avahi_string_list_get_text")
        stringSize = try library.function("avahi_string_list_get_size")
        freeStrings = try library.function("avahi_string_list_free")
        addressText = try library.function("avahi_address_snprint")
    }
}

/// Values of avahi-common's enumerations.
enum Avahi {
    static let unspecified: CInt = -1
    static let ipv6: CInt = 1
    /// The daemon need not run yet.
    static let noFail: CInt = 2
    static let collision: CInt = -8

    enum ClientState {
        static let registering: CInt = 1
        static let running: CInt = 2
        static let collision: CInt = 3
        static let failure: CInt = 100
    }

    enum GroupState {
        static let established: CInt = 2
        static let collision: CInt = 3
        static let failure: CInt = 4
    }

    enum BrowserEvent {
        static let new: CInt = 0
        static let removed: CInt = 1
        static let failure: CInt = 4
    }

    static let resolverFound: CInt = 0
}
