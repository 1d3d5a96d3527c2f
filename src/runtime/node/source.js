// Classifies a source by its syntax tree and edits it before it runs. Edits preserve lines; columns are
// mapped back. A source that the parser rejects is run unchanged.

const HASHBANG = /^#!/;

class Source {
	constructor(text, filename) {
		this.text = text.replace(HASHBANG, '//');
		this.filename = filename;
		this.edits = [];
		this.tree = null;
		try {
			this.tree = acorn.parse(this.text, {ecmaVersion: 'latest', sourceType: 'script', allowReturnOutsideFunction: true,
				allowAwaitOutsideFunction: true, allowImportExportEverywhere: true, allowSuperOutsideMethod: true,
				checkPrivateFields: false});
		} catch (error) {
			// The engine will report a better error, or accept the source; but it does not always
			// report the position.
			this.problem = error.loc && {filename, line: error.loc.line, column: error.loc.column + 1};
		}
		this.last = this.tree?.body.at(-1);
	}

	get isModule() {
		if (!this.tree)
			return /^\s*(import\b\s*[\w{*'"]|export\b)/m.test(this.text);
		return this.tree.body.some(node => MODULE_NODES.has(node.type)) || this.hasAwait ||
			(this.text.includes('import.meta') && someNode(this.tree, node => node.type === 'MetaProperty' &&
				node.meta.name === 'import', true));
	}

	// At the top level: not inside a function.
	get hasAwait() {
		return this.text.includes('await') && this.tree !== null && someNode(this.tree, node =>
			node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await), false);
	}

	get hasReturn() {
		return this.text.includes('return') && this.tree !== null &&
			someNode(this.tree, node => node.type === 'ReturnStatement', false);
	}

	get hasDefaultExport() {
		return this.tree?.body.some(node => node.type === 'ExportDefaultDeclaration' ||
			(node.type === 'ExportNamedDeclaration' &&
				node.specifiers.some(({exported}) => (exported.name ?? exported.value) === 'default'))) ?? false;
	}

	// The last statement if it is an expression: its value is the result.
	get lastExpression() {
		return this.last?.type === 'ExpressionStatement' ? this.last.expression : null;
	}

	// Position of the import of @specifier.
	placeOf(specifier) {
		const node = this.tree?.body.find(({source}) => source?.value === specifier);
		if (!node)
			return null;
		const before = this.text.slice(0, node.source.start);
		return {filename: this.filename, line: before.split('\n').length,
			column: node.source.start - before.lastIndexOf('\n')};
	}

	replace(start, end, insert) {
		this.edits.push({start, end, insert});
	}

	insert(at, text) {
		this.replace(at, at, text);
	}

	blank(start, end) {
		this.replace(start, end, ' '.repeat(end - start));
	}

	// Applies all edits; records how to map columns back.
	apply() {
		const edits = this.edits.map((edit, i) => ({...edit, i})).sort((a, b) => a.start - b.start || a.i - b.i);
		const lines = new Map();
		let out = '', at = 0, line = 1, lineStart = 0, newLineStart = 0;
		for (const {start, end, insert} of edits) {
			for (let nl; (nl = this.text.indexOf('\n', Math.max(lineStart, 0))) >= 0 && nl < start;) {
				newLineStart = out.length + nl + 1 - at;
				lineStart = nl + 1;
				line++;
			}
			out += this.text.slice(at, start);
			const grown = insert.length - (end - start);
			if (grown) {
				if (!lines.has(line))
					lines.set(line, []);
				lines.get(line).push({column: out.length - newLineStart + 1, length: insert.length, grown});
			}
			out += insert;
			at = end;
		}
		out += this.text.slice(at);
		this.lines = lines;
		return out;
	}

	columnOf(line, column) {
		let shift = 0;
		for (const edit of this.lines?.get(line) ?? []) {
			if (column < edit.column)
				break;
			if (column < edit.column + edit.length)
				return edit.column - shift;
			shift += edit.grown;
		}
		return column - shift;
	}

	nameOf(name) {
		return name === WRAPPER || name === `async ${WRAPPER}` ? '' : name;
	}
}

const WRAPPER = '__glovebox_top__';
const MODULE_NODES = new Set(['ImportDeclaration', 'ExportNamedDeclaration', 'ExportDefaultDeclaration', 'ExportAllDeclaration']);
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

// True if @test accepts a node. Function and class bodies are searched only if @deep.
function someNode(node, test, deep) {
	if (test(node))
		return true;
	if (!deep && (FUNCTIONS.has(node.type) || node.type === 'PropertyDefinition' || node.type === 'StaticBlock'))
		return false;
	for (const key of Object.keys(node)) {
		const child = node[key];
		if (typeof child !== 'object' || child === null)
			continue;
		if (Array.isArray(child)) {
			for (const item of child)
				if (item && typeof item.type === 'string' && someNode(item, test, deep))
					return true;
		} else if (typeof child.type === 'string' && someNode(child, test, deep)) {
			return true;
		}
	}
	return false;
}

// The names that a pattern binds.
function namesOf(pattern, names = []) {
	switch (pattern?.type) {
	case 'Identifier':
		names.push(pattern.name);
		break;
	case 'ObjectPattern':
		for (const property of pattern.properties)
			namesOf(property.type === 'RestElement' ? property.argument : property.value, names);
		break;
	case 'ArrayPattern':
		for (const element of pattern.elements)
			namesOf(element, names);
		break;
	case 'AssignmentPattern':
		namesOf(pattern.left, names);
		break;
	case 'RestElement':
		namesOf(pattern.argument, names);
		break;
	}
	return names;
}
