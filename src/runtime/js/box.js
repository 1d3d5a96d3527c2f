// The files of code with a working directory: see box.h. `require` is the object of functions that box.c provides; a
// number is the number of an error, and text that is not part of a result.
const native = require;
const BOX = '/box';
// Numbers of errors, and bits of a mode.
const [EPERM, ENOENT, EACCES, EEXIST, ENOTDIR, EISDIR, EINVAL, ENOTEMPTY, ELOOP] = [1, 2, 13, 17, 20, 21, 22, 39, 40];
const [KIND, FOLDER, FILE, LINK] = [0o170000, 0o040000, 0o100000, 0o120000];

const errors = {};
for (const name of ['NotFound', 'PermissionDenied', 'AlreadyExists', 'NotADirectory', 'IsADirectory', 'FilesystemLoop', 'NotCapable'])
	errors[name] = {[name]: class extends Error {
		get name() {
			return name;
		}
	}}[name];
const CLASSES = new Map([
	[ENOENT, errors.NotFound], [EACCES, errors.PermissionDenied], [EPERM, errors.PermissionDenied],
	[EEXIST, errors.AlreadyExists], [ENOTDIR, errors.NotADirectory], [EISDIR, errors.IsADirectory],
	[ELOOP, errors.FilesystemLoop],
]);

const parts = (path) => path.split('/').filter((part) => part !== '' && part !== '.');

// Whether a path that the kernel has refused leads out of the folders of the code. This names the error only.
const leadsOut = (path) => {
	let at = path[0] === '/' ? [] : parts(BOX);
	const rest = parts(path);
	for (let links = 0; rest.length;) {
		const part = rest.shift();
		if (part === '..') {
			at.pop();
			continue;
		}
		at.push(part);
		const target = native.link(`/${at.join('/')}`);
		if (typeof target !== 'string')
			continue;
		if (++links > 40)
			return false;
		at = target[0] === '/' ? [] : at.slice(0, -1);
		rest.unshift(...parts(target));
	}
	return at[0] !== 'box' && at[0] !== 'tmp';
};

const toPath = (path) => {
	if (typeof path === 'object' && path !== null && path.protocol === 'file:')
		return decodeURIComponent(path.pathname);
	if (typeof path !== 'string')
		throw new TypeError('a path must be a string or a file URL');
	return path;
};

// The value of a function of box.c, or an exception as Deno's.
const check = (value, operation, access, path, to = undefined) => {
	if (typeof value !== 'number')
		return value;
	for (const one of to === undefined ? [path] : [path, to])
		if (leadsOut(one))
			throw new errors.NotCapable(`Requires ${access} access to "${one}", which is outside of the working directory`);
	const text = `${native.describe(value)} (os error ${value}): ${operation} '${path}'${to === undefined ? '' : ` -> '${to}'`}`;
	throw new (CLASSES.get(value) ?? Error)(text);
};

const writing = ({append = false, create = true, createNew = false} = {}) =>
	(append ? 1 : 0) | (create ? 2 : 0) | (createNew ? 4 : 0);

const write = (path, data, options = {}) => {
	const where = toPath(path);
	check(native.write(where, data, writing(options ?? {}), options?.mode ?? 0o666), 'writefile', 'write', where);
};

const date = (ms) => new Date(ms);
const info = ([mode, size, modified, accessed, changed, dev, ino, nlink, uid, gid, blksize, blocks]) => ({
	isFile: (mode & KIND) === FILE,
	isDirectory: (mode & KIND) === FOLDER,
	isSymlink: (mode & KIND) === LINK,
	size, mtime: date(modified), atime: date(accessed), birthtime: null, ctime: date(changed),
	dev, ino, mode, nlink, uid, gid, rdev: 0, blksize, blocks,
	isBlockDevice: false, isCharDevice: false, isFifo: false, isSocket: false,
});
const status = (path, follows, operation) => {
	const where = toPath(path);
	return info(check(native.stat(where, follows), operation, 'read', where));
};

const mkdirAll = (path, mode) => {
	const failed = native.mkdir(path, mode);
	if (failed === undefined)
		return undefined;
	const found = native.stat(path, true);
	if (typeof found !== 'number')
		return (found[0] & KIND) === FOLDER ? undefined : failed;
	const slash = path.replace(/\/+$/, '').lastIndexOf('/');
	if (failed !== ENOENT || slash <= 0)
		return failed;
	return mkdirAll(path.slice(0, slash), mode) ?? native.mkdir(path, mode);
};

const sync = {
	readFile(path) {
		const where = toPath(path);
		return check(native.read(where, false), 'readfile', 'read', where);
	},
	readTextFile(path) {
		const where = toPath(path);
		return check(native.read(where, true), 'readfile', 'read', where);
	},
	writeFile(path, data, options) {
		if (!(data instanceof Uint8Array))
			throw new TypeError('writeFile() writes a Uint8Array; writeTextFile() writes a text');
		write(path, data, options);
	},
	writeTextFile(path, text, options) {
		write(path, String(text).toWellFormed(), options);
	},
	mkdir(path, {recursive = false, mode = 0o777} = {}) {
		const where = toPath(path);
		check(recursive ? mkdirAll(where, mode) : native.mkdir(where, mode), 'mkdir', 'write', where);
	},
	remove(path, {recursive = false} = {}) {
		const where = toPath(path);
		check(native.remove(where, recursive), 'remove', 'write', where);
	},
	rename(from, to) {
		const where = toPath(from), target = toPath(to);
		check(native.rename(where, target), 'rename', 'write', where, target);
	},
	stat(path) {
		return status(path, true, 'stat');
	},
	lstat(path) {
		return status(path, false, 'lstat');
	},
};

const list = (path) => {
	const where = toPath(path);
	return check(native.list(where), 'readdir', 'read', where).map(([name, kind]) => {
		const mode = kind || native.stat(`${where}/${name}`, false)[0];
		return {name, isFile: (mode & KIND) === FILE, isDirectory: (mode & KIND) === FOLDER, isSymlink: (mode & KIND) === LINK};
	});
};

const files = {};
for (const [name, run] of Object.entries(sync)) {
	files[name] = {async [name](...given) {
		return run(...given);
	}}[name];
	files[`${name}Sync`] = run;
}
// Deno throws when the first entry is asked for.
files.readDir = async function* readDir(path) {
	yield* list(path);
};
files.readDirSync = function* readDirSync(path) {
	yield* list(path);
};
Object.defineProperty(globalThis, 'Deno', {value: {...files, errors}, writable: true, configurable: true});
return {...files, errors};
